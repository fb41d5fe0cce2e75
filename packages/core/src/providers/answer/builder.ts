import { checkNumber, checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import { jsonText } from "../http/json.js";
import type { ChatRequest, ChatResponse, ChatToolCall, FinishReason, TokenUsage } from "../interface.js";
import { AnswerLimits, callId, callName } from "./limits.js";
import type { AnswerLayout, LayoutPiece } from "./pieces.js";

type Callbacks = Pick<ChatRequest, "onText" | "onReasoning" | "onToolDraft">;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/**
 * Builds an answer in the order it arrives, calls the request's callbacks, and keeps the values that the provider
 * expects back with the next request (`answerPieces` returns them). Throws an `AttemptError` for an answer that exceeds
 * every sensible size.
 */
export class AnswerBuilder {
  readonly #model: string;
  readonly #callbacks: Callbacks;
  readonly #limits = new AnswerLimits();
  readonly #pieces: LayoutPiece[] = [];
  readonly #calls: OpenCall[] = [];
  #text = "";
  #textStart = 0;

  constructor(model: string, callbacks: Callbacks) {
    checkText("model", model);
    checkObject("callbacks", callbacks);
    this.#model = model;
    this.#callbacks = callbacks;
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#calls.length === 0;
  }

  get callCount(): number {
    return this.#calls.length;
  }

  /** Adds text of the answer. Here and below, a value that is not a string adds nothing. */
  addText(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#limits.addCharacters(text.length);
    this.#text += text;
    this.#callbacks.onText?.(text);
  }

  /** Ends a piece of text. `companion`, such as its signature, is sent back with it. */
  endText(companion?: unknown): void {
    const length = this.#text.length - this.#textStart;
    if (length === 0) return;
    this.#textStart = this.#text.length;
    this.#pieces.push({ text: length, ...this.#beside(companion) });
  }

  /** Adds reasoning for displays. Reasoning that must be sent back goes to `addOwn`. */
  addReasoning(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#limits.addCharacters(text.length);
    this.#callbacks.onReasoning?.(text);
  }

  /** Adds a value that only the provider understands and expects back at this position. */
  addOwn(value: unknown): void {
    this.endText();
    this.#limits.addCharacters(jsonText(value).length);
    this.#pieces.push({ own: value });
  }

  /** Adds a tool call and returns its position. `companion` is sent back with it. */
  addCall(id: unknown, name: unknown, companion?: unknown): number {
    this.endText();
    this.#limits.addCall();
    const index = this.#calls.length;
    const call = { id: callId(id), name: callName(name), arguments: "" };
    this.#calls.push(call);
    this.#pieces.push({ call: true, ...this.#beside(companion) });
    this.#callbacks.onToolDraft?.({ index, name: call.name, delta: "" });
    return index;
  }

  /** Adds to the JSON text of a call's arguments. */
  addArguments(index: number, text: unknown): void {
    checkNumber("index", index);
    const call = this.#calls[index];
    if (!call || typeof text !== "string" || text === "") return;
    this.#limits.addCharacters(text.length);
    call.arguments += text;
    this.#callbacks.onToolDraft?.({ index, name: call.name, delta: text });
  }

  finish(finishReason: FinishReason, usage?: TokenUsage): ChatResponse {
    checkText("finishReason", finishReason);
    if (usage !== undefined) checkObject("usage", usage);
    this.endText();
    const toolCalls = this.#calls.map(
      ({ id, name, arguments: text }): ChatToolCall => ({
        id,
        type: "function",
        function: { name, arguments: text },
      }),
    );
    return {
      content: this.#text === "" ? null : this.#text,
      toolCalls,
      finishReason: finishReason === "stop" && toolCalls.length > 0 ? "tool_calls" : finishReason,
      ...(usage && { usage }),
      ...(this.#hasState && {
        state: { model: this.#model, pieces: this.#pieces } satisfies AnswerLayout,
      }),
    };
  }

  #beside(companion: unknown): { readonly with?: unknown } {
    if (companion === undefined) return {};
    this.#limits.addCharacters(jsonText(companion).length);
    return { with: companion };
  }

  /** Whether the layout holds more than the text and the calls. */
  get #hasState(): boolean {
    return this.#pieces.some((piece) => "own" in piece || piece.with !== undefined);
  }
}
