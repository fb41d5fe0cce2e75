import type { ChatRequest, ChatResponse, FinishReason } from "@agent/core";
import {
  AnswerBuilder,
  type AnswerReader,
  AttemptError,
  bodyError,
  incompleteAnswer,
  isRecord,
  readTokenUsage,
  recordsIn,
} from "@agent/core/provider";

type Fields = Readonly<Record<string, unknown>>;

/** Reads one answer of the Responses API, whole or in events. */
export class ResponsesReader implements AnswerReader {
  readonly #answer: AnswerBuilder;
  /** The position of each call, by the `output_index` of its item. */
  readonly #calls = new Map<unknown, number>();
  readonly #names = new Map<unknown, unknown>();
  /** Items that arrived as deltas: their text has already been read. */
  readonly #streamed = new Set<unknown>();
  #final: Fields | undefined;

  readonly #freeform: NonNullable<ChatRequest["freeform"]>;

  constructor(model: string, request: ChatRequest, freeform: NonNullable<ChatRequest["freeform"]> = {}) {
    this.#answer = new AnswerBuilder(model, request);
    this.#freeform = freeform;
  }

  whole(answer: unknown): ChatResponse {
    if (isRecord(answer) && isRecord(answer.error)) throw bodyError(answer.error);
    if (!isRecord(answer) || !Array.isArray(answer.output)) {
      throw new AttemptError("the answer holds no output", { retryable: true });
    }
    this.#final = answer;
    for (const [index, item] of recordsIn(answer.output).entries()) this.#finishItem(index, item);
    return this.#response(answer);
  }

  add(event: unknown): void {
    if (!isRecord(event)) return;
    const { type, output_index: index, delta } = event;
    // Not an event: a server that does not stream sent the whole answer, or an error.
    if (typeof type !== "string") {
      if (isRecord(event.error)) throw bodyError(event.error);
      if (event.object === "response") this.#end(event);
      return;
    }
    switch (type) {
      case "response.output_item.added":
        if (isRecord(event.item) && isCall(event.item)) this.#openCall(index, event.item);
        return;
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#streamed.add(index);
        this.#answer.addText(delta);
        return;
      case "response.function_call_arguments.delta":
        this.#streamed.add(index);
        this.#answer.addArguments(this.#calls.get(index) ?? -1, delta);
        return;
      case "response.custom_tool_call_input.delta":
        if (!this.#streamed.has(index)) this.#openText(index);
        this.#streamed.add(index);
        this.#answer.addArguments(this.#calls.get(index) ?? -1, JSON.stringify(textOf(delta)).slice(1, -1));
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#streamed.add(index);
        this.#answer.addReasoning(delta);
        return;
      case "response.output_item.done":
        if (isRecord(event.item)) this.#finishItem(index, event.item);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#end(isRecord(event.response) ? event.response : {});
        return;
      case "error":
        throw bodyError(isRecord(event.error) ? event.error : event);
    }
  }

  end(): ChatResponse {
    if (this.#final === undefined) throw incompleteAnswer();
    return this.#response(this.#final);
  }

  #end(response: Fields): void {
    if (isRecord(response.error)) throw bodyError(response.error);
    // Some proxies send the items only here.
    if (this.#final === undefined && this.#answer.isEmpty) {
      for (const [index, item] of recordsIn(response.output).entries()) this.#finishItem(index, item);
    }
    this.#final = response;
  }

  #openCall(index: unknown, item: Fields): void {
    this.#calls.set(index, this.#answer.addCall(item.call_id ?? item.id, item.name));
    this.#names.set(index, item.name);
  }

  /** Begins the JSON around the plain text of a free-form call. */
  #openText(index: unknown): void {
    const { argument = "input" } = this.#freeform[String(this.#names.get(index))] ?? {};
    this.#answer.addArguments(this.#calls.get(index) ?? -1, `{${JSON.stringify(argument)}:"`);
  }

  /** Reads a complete item. Text that already came as deltas is not added again. */
  #finishItem(index: unknown, item: Fields): void {
    const known = this.#streamed.has(index);
    switch (item.type) {
      case "message":
        if (!known) this.#answer.addText(recordsIn(item.content).map(partText).join(""));
        this.#answer.endText(typeof item.phase === "string" ? { phase: item.phase } : undefined);
        return;
      case "function_call": {
        if (!this.#calls.has(index)) this.#openCall(index, item);
        if (!known) this.#answer.addArguments(this.#calls.get(index) ?? -1, item.arguments);
        return;
      }
      case "custom_tool_call": {
        if (!this.#calls.has(index)) this.#openCall(index, item);
        if (!known) this.#openText(index);
        const rest = known ? "" : JSON.stringify(textOf(item.input)).slice(1, -1);
        this.#answer.addArguments(this.#calls.get(index) ?? -1, `${rest}"}`);
        return;
      }
      case "reasoning":
        if (!known) this.#answer.addReasoning(recordsIn(item.summary).map(partText).join("\n\n"));
        // The server stores nothing (`store: false`): it accepts reasoning back only with its encrypted content.
        if (typeof item.encrypted_content === "string") this.#answer.addOwn(withoutNulls(item));
        return;
    }
  }

  #response({ status, incomplete_details: details, usage }: Fields): ChatResponse {
    if (status === "in_progress" || status === "queued" || status === "cancelled") {
      throw new AttemptError(`the answer is ${status}, not complete`, { retryable: true });
    }
    return this.#answer.finish(finishReason(status, details), isRecord(usage) ? readUsage(usage) : undefined);
  }
}

function isCall({ type }: Fields): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of a part: the answer, or the refusal. */
function partText({ text, refusal }: Fields): string {
  return textOf(text) || textOf(refusal);
}

/** Removes fields that are `null`: the server sends them in answers and refuses them in requests. */
function withoutNulls(item: Fields): Fields {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

function finishReason(status: unknown, details: unknown): FinishReason {
  if (status !== "incomplete") return "stop";
  return isRecord(details) && details.reason === "content_filter" ? "content_filter" : "length";
}

function readUsage(usage: Fields) {
  const input = isRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return readTokenUsage({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: input.cached_tokens,
    cacheWriteTokens: input.cache_write_tokens,
    reasoningTokens: output.reasoning_tokens,
  });
}
