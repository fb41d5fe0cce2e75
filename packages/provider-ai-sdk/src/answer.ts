import type { ChatRequest, ChatResponse, FinishReason, TokenUsage } from "@agent/core";
import {
  AnswerBuilder,
  AttemptError,
  incompleteAnswer,
  jsonText,
  readTokenUsage,
  recordsIn,
  sumTokens,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import { modelError } from "./failure.js";
import type { LanguageModel } from "./languageModel.js";
import type { KeptReasoning } from "./prompt.js";

type Fields = Readonly<Record<string, unknown>>;

/** Assembles an answer from the parts of a model, whole or streamed. */
export class ModelAnswer {
  readonly #answer: AnswerBuilder;
  readonly #provider: string;
  readonly #onWarning: (warning: Fields) => void;
  /** Reasoning that is being streamed, by its id. */
  readonly #thoughts = new Map<unknown, { text: string; metadata: unknown }>();
  #finish: Fields | undefined;

  constructor(
    model: Pick<LanguageModel, "modelId" | "provider">,
    request: ChatRequest,
    onWarning: (warning: Fields) => void,
  ) {
    this.#answer = new AnswerBuilder(model.modelId, request);
    this.#provider = model.provider;
    this.#onWarning = onWarning;
  }

  /** Whether no part of an answer has arrived. */
  get isEmpty(): boolean {
    return this.#answer.isEmpty && this.#finish === undefined;
  }

  /** Reads the result of `doGenerate`. */
  whole(result: unknown): ChatResponse {
    if (!isRecord(result) || !Array.isArray(result.content)) {
      throw new AttemptError("the model resolved to no content", { retryable: true });
    }
    for (const warning of recordsIn(result.warnings)) this.#onWarning(warning);
    for (const part of recordsIn(result.content)) {
      if (part.type === "text") this.#wholeText(part);
      else if (part.type === "reasoning") this.#keep(textOf(part.text), part.providerMetadata, true);
      else this.add(part);
    }
    return this.#answer.finish(finishReason(result.finishReason), this.#usage(result.usage));
  }

  /** Adds one part of the stream. */
  add(part: unknown): void {
    if (!isRecord(part)) return;
    const { type, id } = part;
    switch (type) {
      case "stream-start":
        for (const warning of recordsIn(part.warnings)) this.#onWarning(warning);
        return;
      case "text-delta":
        this.#answer.addText(part.delta);
        return;
      case "text-end":
        this.#answer.endText(part.providerMetadata);
        return;
      case "reasoning-start":
        this.#thoughts.set(id, { text: "", metadata: part.providerMetadata });
        return;
      case "reasoning-delta": {
        const thought = this.#thoughts.get(id) ?? { text: "", metadata: undefined };
        thought.text += textOf(part.delta);
        thought.metadata = part.providerMetadata ?? thought.metadata;
        this.#thoughts.set(id, thought);
        this.#answer.addReasoning(part.delta);
        return;
      }
      case "reasoning-end": {
        const thought = this.#thoughts.get(id);
        this.#thoughts.delete(id);
        this.#keep(thought?.text ?? "", part.providerMetadata ?? thought?.metadata, false);
        return;
      }
      case "tool-call":
        this.#call(part);
        return;
      case "finish":
        this.#finish = part;
        return;
      case "error":
        throw modelError(part.error);
    }
  }

  /** The answer after the last part of the stream. Throws unless the model finished. */
  end(): ChatResponse {
    // A broken connection appears as a finish part with an unknown reason.
    if (this.#finish === undefined || isUnknown(this.#finish.finishReason)) throw incompleteAnswer();
    return this.#answer.finish(finishReason(this.#finish.finishReason), this.#usage(this.#finish.usage));
  }

  /** Version 2 of the specification has flat token counts, later versions have groups for input and output. */
  #usage(usage: unknown): TokenUsage | undefined {
    if (!isRecord(usage)) return undefined;
    const { inputTokens: input, outputTokens: output, cachedInputTokens: cached } = usage;
    // In version 2 the input of Anthropic excludes cached tokens, as on its server; that of all others includes them.
    const flat = /anthropic/.test(this.#provider) ? sumTokens(input, cached) : input;
    return readTokenUsage({
      inputTokens: isRecord(input) ? input.total : flat,
      outputTokens: isRecord(output) ? output.total : output,
      cachedTokens: isRecord(input) ? input.cacheRead : cached,
      cacheWriteTokens: isRecord(input) ? input.cacheWrite : undefined,
      reasoningTokens: isRecord(output) ? output.reasoning : usage.reasoningTokens,
    });
  }

  #wholeText(part: Fields): void {
    this.#answer.addText(part.text);
    this.#answer.endText(part.providerMetadata);
  }

  #keep(text: string, metadata: unknown, isNew: boolean): void {
    if (isNew) this.#answer.addReasoning(text);
    if (text === "" && metadata === undefined) return;
    this.#answer.addOwn({ text, ...(metadata !== undefined && { metadata }) } satisfies KeptReasoning);
  }

  #call(part: Fields): void {
    // A tool that ran on the server is part of the answer, not a call for the agent.
    if (part.providerExecuted === true) return;
    const index = this.#answer.addCall(part.toolCallId, part.toolName, part.providerMetadata);
    const { input } = part;
    this.#answer.addArguments(index, typeof input === "string" ? input : jsonText(input ?? {}));
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Version 2 gives one word, later versions an object with that word and the server's own reason. */
function finishReason(reason: unknown): FinishReason {
  const word = isRecord(reason) ? reason.unified : reason;
  if (word === "length") return "length";
  return word === "content-filter" ? "content_filter" : "stop";
}

/** Whether the server gave no reason: version 2 says "unknown", later versions have a vague one without `raw`. */
function isUnknown(reason: unknown): boolean {
  if (!isRecord(reason)) return reason === "unknown";
  return reason.raw === undefined && /^(other|error|interrupted)$/.test(String(reason.unified));
}
