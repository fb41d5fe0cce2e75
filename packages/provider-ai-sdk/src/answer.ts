import type { ChatRequest, ChatResponse, FinishReason } from "@agent/core";
import { AnswerBuilder, AttemptError, jsonText, readTokenUsage, recordsIn } from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import { modelError } from "./failure.js";
import type { KeptReasoning } from "./prompt.js";

type Fields = Readonly<Record<string, unknown>>;

/** Puts an answer together from the parts a model gives, whole or as a stream. */
export class ModelAnswer {
  readonly #answer: AnswerBuilder;
  readonly #onWarning: (warning: Fields) => void;
  /** Reasoning that is being written, by its id. */
  readonly #thoughts = new Map<unknown, { text: string; metadata: unknown }>();
  #finish: Fields | undefined;

  constructor(model: string, request: ChatRequest, onWarning: (warning: Fields) => void) {
    this.#answer = new AnswerBuilder(model, request);
    this.#onWarning = onWarning;
  }

  /** What `doGenerate` resolved to. */
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
    return this.#answer.finish(finishReason(result.finishReason), readUsage(result.usage));
  }

  /** One part of the stream. */
  add(part: unknown): void {
    if (!isRecord(part)) return;
    const { type, id } = part;
    switch (type) {
      case "stream-start":
        for (const warning of recordsIn(part.warnings)) this.#onWarning(warning);
        return;
      case "text-delta":
        this.#answer.addText(textOf(part.delta));
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
        this.#answer.addReasoning(textOf(part.delta));
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
    // A connection that was cut shows as an end whose reason nobody knows.
    if (this.#finish === undefined || isUnknown(this.#finish.finishReason)) {
      throw new AttemptError("the stream ended before the answer was complete", { retryable: true });
    }
    return this.#answer.finish(finishReason(this.#finish.finishReason), readUsage(this.#finish.usage));
  }

  #wholeText(part: Fields): void {
    this.#answer.addText(textOf(part.text));
    this.#answer.endText(part.providerMetadata);
  }

  #keep(text: string, metadata: unknown, isNew: boolean): void {
    if (isNew) this.#answer.addReasoning(text);
    if (text === "" && metadata === undefined) return;
    this.#answer.addOwn({ text, ...(metadata !== undefined && { metadata }) } satisfies KeptReasoning);
  }

  #call(part: Fields): void {
    // A tool that ran on the server is part of the answer, not a call for us.
    if (part.providerExecuted === true) return;
    const index = this.#answer.addCall(part.toolCallId, part.toolName, part.providerMetadata);
    const { input } = part;
    this.#answer.addArguments(index, typeof input === "string" ? input : jsonText(input ?? {}));
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Version 2 gives a word, later versions a word and what the server itself said. */
function finishReason(reason: unknown): FinishReason {
  const word = isRecord(reason) ? reason.unified : reason;
  if (word === "length") return "length";
  return word === "content-filter" ? "content_filter" : "stop";
}

function isUnknown(reason: unknown): boolean {
  return isRecord(reason) ? reason.unified === "other" && reason.raw === undefined : reason === "unknown";
}

/** Version 2 counts flat, later versions in two groups. */
function readUsage(usage: unknown) {
  if (!isRecord(usage)) return undefined;
  const { inputTokens: input, outputTokens: output } = usage;
  return readTokenUsage({
    inputTokens: isRecord(input) ? input.total : input,
    outputTokens: isRecord(output) ? output.total : output,
    cachedTokens: isRecord(input) ? input.cacheRead : usage.cachedInputTokens,
    cacheWriteTokens: isRecord(input) ? input.cacheWrite : undefined,
    reasoningTokens: isRecord(output) ? output.reasoning : usage.reasoningTokens,
  });
}
