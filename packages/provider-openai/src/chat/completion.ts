import type { ChatRequest, ChatResponse, ChatToolCall, FinishReason } from "@agent/core";
import {
  AnswerLimits,
  type AnswerReader,
  AttemptError,
  bodyError,
  callId,
  callName,
  incompleteAnswer,
  isRecord,
  jsonText,
  readTokenUsage,
  recordsIn,
} from "@agent/core/provider";
import { type ChatState, EchoedFields, reasoningOf } from "./echo.js";

type Maybe<T> = T | null | undefined;
type Fields = Readonly<Record<string, unknown>>;

/** An answer or a chunk of one. Compatible servers may leave out any field. */
interface WireCompletion {
  readonly error?: unknown;
  /** The field some servers use instead of `error`. */
  readonly message?: unknown;
  readonly detail?: unknown;
  readonly choices?: Maybe<readonly WireChoice[]>;
  readonly usage?: Maybe<Fields>;
}

interface WireChoice {
  readonly finish_reason?: Maybe<string>;
  readonly message?: Maybe<Fields>;
  readonly delta?: Maybe<Fields>;
}

/** Reads one answer of a chat completions server, whole or in chunks. */
export class CompletionReader implements AnswerReader {
  readonly #model: string;
  readonly #request: ChatRequest;
  readonly #limits = new AnswerLimits();
  readonly #calls: ToolCallAssembly;
  readonly #echoed: EchoedFields;
  #text = "";
  #finish: string | undefined;
  #usage: Maybe<Fields>;

  constructor(model: string, request: ChatRequest) {
    this.#model = model;
    this.#request = request;
    this.#calls = new ToolCallAssembly(this.#limits, request.onToolDraft);
    this.#echoed = new EchoedFields(this.#limits);
  }

  whole(answer: unknown): ChatResponse {
    const completion = answer as WireCompletion | null;
    throwIfError(completion);
    const choice = completion?.choices?.[0];
    if (!choice?.message) throw new AttemptError("the answer holds no message", { retryable: true });
    this.#usage = completion?.usage;
    this.#finish = choice.finish_reason ?? undefined;
    // Number the calls by position: some servers give two calls the same index.
    this.#take(choice.message, (call, index) => ({ ...call, index }));
    return this.#response();
  }

  add(event: unknown): void {
    const chunk = event as WireCompletion | null;
    throwIfError(chunk);
    if (chunk?.usage) this.#usage = chunk.usage;
    const choice = chunk?.choices?.[0];
    if (!choice) return;
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    // Some servers send the whole message in one event. Ignore it if it only repeats the deltas before it.
    const piece = choice.delta ?? (this.#isEmpty ? choice.message : undefined);
    if (piece) this.#take(piece, (call) => call);
  }

  /** The stream is complete if the model gave a reason for stopping, or the server sent its end marker. */
  end(endMarkCame: boolean): ChatResponse {
    if (this.#finish === undefined && (this.#isEmpty || !endMarkCame)) throw incompleteAnswer();
    return this.#response();
  }

  get #isEmpty(): boolean {
    return this.#text === "" && this.#calls.size === 0;
  }

  #take(message: Fields, placed: (call: Fields, index: number) => Fields): void {
    this.#echoed.add(message);
    const reasoning = reasoningOf(message);
    if (reasoning !== "") this.#request.onReasoning?.(reasoning);
    for (const [index, call] of recordsIn(message.tool_calls).entries()) this.#calls.add(placed(call, index));
    const text = textOf(message);
    if (text === "") return;
    this.#limits.addCharacters(text.length);
    this.#text += text;
    this.#request.onText?.(text);
  }

  #response(): ChatResponse {
    const toolCalls = this.#calls.finished();
    if (this.#isEmpty && /^(tool|function)_calls?$/.test(this.#finish ?? "")) {
      throw new AttemptError("the answer announces a tool call and holds none that can be read", {
        retryable: true,
      });
    }
    const state = this.#state();
    return {
      content: this.#text === "" ? null : this.#text,
      toolCalls,
      finishReason: finishReason(this.#finish, toolCalls.length > 0),
      ...(this.#usage && { usage: readUsage(this.#usage) }),
      ...(state && { state }),
    };
  }

  #state(): ChatState | undefined {
    const message = this.#echoed.found;
    const calls = this.#calls.ownFields();
    if (message === undefined && calls === undefined) return undefined;
    return { model: this.#model, ...(message && { message }), ...(calls && { calls }) };
  }
}

/** Some compatible servers answer status 200 with an error in the answer, or instead of it. */
function throwIfError(completion: WireCompletion | null): void {
  if (completion?.error) throw bodyError(completion.error);
  if (!isRecord(completion) || completion.choices) return;
  if (typeof (completion.message ?? completion.detail) === "string") throw bodyError(completion);
}

/** The model's text: its answer, or its refusal. */
function textOf(message: Fields): string {
  return plainText(message.content) || plainText(message.refusal);
}

/** The text of a content, which may be a list of parts: some servers send reasoning and text as a list. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

function finishReason(reason: Maybe<string>, hasCalls: boolean): FinishReason {
  if (reason === "length" || reason === "content_filter") return reason;
  return hasCalls ? "tool_calls" : "stop";
}

/**
 * Parses token counts in OpenAI's form; DeepSeek and OpenRouter have other names for cached tokens. OpenRouter also
 * reports the cost, in dollars.
 */
function readUsage(usage: Fields) {
  const input = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return readTokenUsage({
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cachedTokens: input.cached_tokens ?? usage.prompt_cache_hit_tokens,
    cacheWriteTokens: input.cache_write_tokens,
    reasoningTokens: output.reasoning_tokens,
    cost: usage.cost,
  });
}

/** A call or a piece of one. Compatible servers may leave out any field. */
interface WireToolCall {
  readonly index?: number | null;
  readonly id?: unknown;
  readonly type?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  /** Fields that are not part of the API, such as Gemini's signature in `extra_content`. */
  readonly [field: string]: unknown;
}

interface PartialCall {
  readonly position: number;
  id: string;
  name: string;
  arguments: string;
  own: Record<string, unknown> | null;
}

/** Assembles tool calls from pieces. Accepts servers that leave out ids, indexes or both. */
class ToolCallAssembly {
  readonly #calls: PartialCall[] = [];
  /** The last call of each index. A map, because searching all calls for each piece would take quadratic time. */
  readonly #byIndex = new Map<number, PartialCall>();
  readonly #limits: AnswerLimits;
  readonly #onDraft: ChatRequest["onToolDraft"];

  constructor(limits: AnswerLimits, onDraft: ChatRequest["onToolDraft"]) {
    this.#limits = limits;
    this.#onDraft = onDraft;
  }

  get size(): number {
    return this.#calls.length;
  }

  add({ index, id: rawId, type: _, function: called, ...own }: WireToolCall): void {
    const id = callId(rawId);
    const name = callName(called?.name);
    const text = argumentText(called?.arguments);
    this.#limits.addCharacters(text.length);
    const call = this.#find(index ?? undefined, id, name) ?? this.#open(index ?? undefined);
    call.id ||= id;
    call.name ||= name;
    call.arguments += text;
    if (Object.keys(own).length > 0) {
      this.#limits.addCharacters(jsonText(own).length);
      call.own = { ...call.own, ...own };
    }
    this.#onDraft?.({ index: call.position, name: call.name, delta: text });
  }

  #open(index: number | undefined): PartialCall {
    this.#limits.addCall();
    const call = { position: this.#calls.length, id: "", name: "", arguments: "", own: null };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The call a piece belongs to: the same index, unless a new id together with a name starts another one. */
  #find(index: number | undefined, id: string, name: string): PartialCall | undefined {
    const known = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (!known || name === "" || known.name === "") return known;
    const startsAnother = id === "" ? index === undefined : id !== known.id;
    return startsAnother ? undefined : known;
  }

  finished(): ChatToolCall[] {
    return this.#calls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
  }

  /** The fields of each call that are not part of the API, or `undefined` if no call has any. */
  ownFields(): (Readonly<Record<string, unknown>> | null)[] | undefined {
    const fields = this.#calls.map(({ own }) => own);
    return fields.some((own) => own !== null) ? fields : undefined;
  }
}

/** Some servers send the arguments as an object where the API specifies text. */
function argumentText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(value);
}
