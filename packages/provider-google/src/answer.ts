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
import type { FunctionNames } from "./functionNames.js";

type Fields = Readonly<Record<string, unknown>>;

/** Finish reasons for an invalid tool call: retrying the same request often gives a valid one. */
const MALFORMED: ReadonlySet<unknown> = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]);

/** Reads one answer of generateContent. A whole answer has the same form as one event of a stream. */
export class ContentReader implements AnswerReader {
  readonly #answer: AnswerBuilder;
  readonly #names: FunctionNames;
  #usage: Fields | undefined;
  #finish: unknown;

  constructor(model: string, request: ChatRequest, names: FunctionNames) {
    this.#answer = new AnswerBuilder(model, request);
    this.#names = names;
  }

  whole(answer: unknown): ChatResponse {
    this.add(answer);
    if (this.#finish === undefined && this.#answer.isEmpty) {
      throw new AttemptError("the answer holds no candidate", { retryable: true });
    }
    return this.end();
  }

  add(event: unknown): void {
    if (!isRecord(event)) return;
    if (event.error) throw bodyError(event.error);
    if (isRecord(event.usageMetadata)) this.#usage = event.usageMetadata;
    const [candidate] = recordsIn(event.candidates);
    const { blockReason } = isRecord(event.promptFeedback) ? event.promptFeedback : {};
    if (!candidate && typeof blockReason === "string") {
      throw new AttemptError(`the server blocked the request: ${blockReason}`, { retryable: false });
    }
    if (!candidate) return;
    const { content, finishReason, finishMessage } = candidate;
    for (const part of recordsIn(isRecord(content) ? content.parts : undefined)) this.#take(part);
    if (typeof finishReason !== "string") return;
    this.#finish = finishReason;
    if (MALFORMED.has(finishReason)) {
      const words = typeof finishMessage === "string" ? `: ${finishMessage}` : "";
      throw new AttemptError(`the model wrote a tool call that cannot be read (${finishReason})${words}`, {
        retryable: true,
      });
    }
  }

  end(): ChatResponse {
    if (this.#finish === undefined) throw incompleteAnswer();
    return this.#answer.finish(finishReasonOf(this.#finish), this.#usage && readUsage(this.#usage));
  }

  #take(part: Fields): void {
    const { text, thought, thoughtSignature, functionCall } = part;
    const signature = typeof thoughtSignature === "string" ? { thoughtSignature } : undefined;
    if (isRecord(functionCall)) {
      const { id, name, args } = functionCall;
      const own = { ...(typeof id === "string" && { id }), ...signature };
      // Earlier models send no ids. Create one for each call: a conversation that continues with another provider needs
      // them.
      const index = this.#answer.addCall(
        typeof id === "string" && id !== ""
          ? id
          : `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`,
        typeof name === "string" ? this.#names.fromWire(name) : name,
        Object.keys(own).length > 0 ? own : undefined,
      );
      this.#answer.addArguments(index, isRecord(args) ? jsonText(args) : "{}");
    } else if (thought === true) {
      this.#answer.addReasoning(text);
      if (signature) this.#answer.addOwn(part);
    } else if (typeof text === "string" && text !== "") {
      // Text with a signature is a separate part, never joined with its neighbours.
      if (signature) this.#answer.endText();
      this.#answer.addText(text);
      if (signature) this.#answer.endText(signature);
    } else if (signature) this.#answer.addOwn(part);
  }
}

function finishReasonOf(reason: unknown): FinishReason {
  if (reason === "STOP" || reason === "FINISH_REASON_UNSPECIFIED" || reason === "CONTINUATION") return "stop";
  return reason === "MAX_TOKENS" ? "length" : "content_filter";
}

function readUsage(usage: Fields) {
  return readTokenUsage({
    inputTokens: sumTokens(usage.promptTokenCount, usage.toolUsePromptTokenCount),
    outputTokens: sumTokens(usage.candidatesTokenCount, usage.thoughtsTokenCount),
    cachedTokens: usage.cachedContentTokenCount,
    reasoningTokens: usage.thoughtsTokenCount,
  });
}
