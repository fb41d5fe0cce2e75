import type { ChatRequest, ChatResponse, FinishReason } from "@agent/core";
import {
  AnswerBuilder,
  type AnswerReader,
  AttemptError,
  bodyError,
  incompleteAnswer,
  isRecord,
  jsonText,
  readTokenUsage,
  recordsIn,
  sumTokens,
} from "@agent/core/provider";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Matches a text delta as the server writes it, which is nearly every event of a stream, so that JSON.parse is not needed.
 * The server pads events with spaces to hide the length of a text. A text with an escape does not match and is parsed.
 */
const TEXT_EVENT =
  /^\{"type":"content_block_delta","index":\d+,"delta":\{"type":"text_delta","text":"([^"\\\p{Cc}]*)" *\} *\}$/u;

/** A block that is being streamed. */
type OpenBlock =
  | { readonly kind: "text" }
  | { readonly kind: "call"; readonly index: number; readonly input: unknown; pieces: number }
  | { readonly kind: "own"; readonly block: Record<string, unknown> };

/** Reads one answer of the Messages API, whole or in events. */
export class MessageReader implements AnswerReader {
  readonly #answer: AnswerBuilder;
  readonly #open = new Map<unknown, OpenBlock>();
  #usage: Fields = {};
  #stopReason: unknown;
  #isComplete = false;

  constructor(model: string, request: ChatRequest) {
    this.#answer = new AnswerBuilder(model, request);
  }

  whole(message: unknown): ChatResponse {
    if (isRecord(message) && message.type === "error") throw bodyError(message.error);
    if (!isRecord(message) || !Array.isArray(message.content)) {
      throw new AttemptError("the answer holds no message", { retryable: true });
    }
    for (const [index, block] of recordsIn(message.content).entries()) {
      this.#start(index, block);
      this.#stop(index);
    }
    this.#stopReason = message.stop_reason;
    if (isRecord(message.usage)) this.#usage = message.usage;
    return this.#response();
  }

  addUnparsed(data: string): boolean {
    const text = TEXT_EVENT.exec(data)?.[1];
    if (text === undefined) return false;
    this.#answer.addText(text);
    return true;
  }

  add(event: unknown): void {
    if (!isRecord(event)) return;
    switch (event.type) {
      case "message_start":
        this.#addUsage(isRecord(event.message) ? event.message.usage : undefined);
        return;
      case "content_block_start":
        if (isRecord(event.content_block)) this.#start(event.index, event.content_block);
        return;
      case "content_block_delta":
        if (isRecord(event.delta)) this.#extend(event.index, event.delta);
        return;
      case "content_block_stop":
        this.#stop(event.index);
        return;
      case "message_delta":
        if (isRecord(event.delta)) this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#addUsage(event.usage);
        return;
      case "message_stop":
        this.#isComplete = true;
        return;
      case "error":
        throw bodyError(event.error);
      case "message":
        // The whole answer of a server that does not stream.
        this.whole(event);
        this.#isComplete = true;
        return;
      default:
        if (isRecord(event.error)) throw bodyError(event.error);
    }
  }

  end(): ChatResponse {
    // After a stop reason nothing more can follow, so the answer is complete.
    if (!this.#isComplete && typeof this.#stopReason !== "string") throw incompleteAnswer();
    return this.#response();
  }

  #start(index: unknown, block: Fields): void {
    switch (block.type) {
      case "text":
        this.#open.set(index, { kind: "text" });
        this.#answer.addText(block.text);
        return;
      case "tool_use": {
        const position = this.#answer.addCall(block.id, block.name);
        this.#open.set(index, { kind: "call", index: position, input: block.input, pieces: 0 });
        return;
      }
      case "thinking":
      case "redacted_thinking":
        this.#open.set(index, { kind: "own", block: { ...block } });
        this.#answer.addReasoning(block.thinking);
        return;
    }
  }

  #extend(index: unknown, delta: Fields): void {
    const open = this.#open.get(index);
    switch (delta.type) {
      case "text_delta":
        this.#answer.addText(delta.text);
        return;
      case "input_json_delta":
        if (open?.kind !== "call") return;
        open.pieces++;
        this.#answer.addArguments(open.index, delta.partial_json);
        return;
      case "thinking_delta":
        if (open?.kind !== "own") return;
        this.#answer.addReasoning(delta.thinking);
        open.block.thinking = textOf(open.block.thinking) + textOf(delta.thinking);
        return;
      case "signature_delta":
        if (open?.kind === "own")
          open.block.signature = textOf(open.block.signature) + textOf(delta.signature);
        return;
    }
  }

  #stop(index: unknown): void {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open?.kind === "text") this.#answer.endText();
    // If no deltas with arguments came, the first event of the call holds them.
    if (open?.kind === "call" && open.pieces === 0) {
      this.#answer.addArguments(open.index, isRecord(open.input) ? jsonText(open.input) : "{}");
    }
    if (open?.kind === "own") this.#answer.addOwn(open.block);
  }

  /** Counts grow during a stream: the last value of each field is right, also if later events leave the field out. */
  #addUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    const known = Object.entries(usage).filter(([, count]) => count !== null && count !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  #response(): ChatResponse {
    if (this.#answer.isEmpty && this.#stopReason === "tool_use") {
      throw new AttemptError("the answer announces a tool call and holds none that can be read", {
        retryable: true,
      });
    }
    return this.#answer.finish(finishReason(this.#stopReason), readUsage(this.#usage));
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function finishReason(reason: unknown): FinishReason {
  if (reason === "max_tokens" || reason === "model_context_window_exceeded") return "length";
  return reason === "refusal" ? "content_filter" : "stop";
}

/** The server counts cached input separately; `inputTokens` is the sum. */
function readUsage(usage: Fields) {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  const details = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return readTokenUsage({
    inputTokens: sumTokens(input, read, written),
    outputTokens: usage.output_tokens,
    cachedTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: details.thinking_tokens,
  });
}
