import type { ChatResponse, ChatToolCall, FinishReason, TokenUsage } from "@agent/core";
import { AttemptError, bodyError, jsonText } from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";

// Far beyond any answer: a model writes some hundred thousand words, and calls some dozen tools at once.
const MAX_ANSWER_CHARACTERS = 16 * 1024 * 1024;
const MAX_TOOL_CALLS = 10_000;
const MAX_NAME_CHARACTERS = 1024;
// Some gateways carry a signature of several kilobytes in the id.
const MAX_ID_CHARACTERS = 64 * 1024;

type Maybe<T> = T | null | undefined;

/** An answer, or a piece of one, as servers that resemble the API really send it: anything may be missing. */
export interface WireCompletion {
  readonly error?: unknown;
  /** What some servers send instead of `error`. */
  readonly message?: unknown;
  readonly detail?: unknown;
  readonly choices?: Maybe<readonly WireChoice[]>;
  readonly usage?: Maybe<{ prompt_tokens?: unknown; completion_tokens?: unknown }>;
}

interface WireChoice {
  readonly finish_reason?: Maybe<string>;
  readonly message?: Maybe<WireMessage>;
  readonly delta?: Maybe<WireMessage>;
}

interface WireMessage {
  readonly content?: unknown;
  /** What a model says instead of `content` when it will not answer. */
  readonly refusal?: unknown;
  readonly tool_calls?: unknown;
}

interface WireToolCall {
  readonly index?: Maybe<number>;
  readonly id?: Maybe<string>;
  readonly function?: Maybe<{ readonly name?: Maybe<string>; readonly arguments?: unknown }>;
}

/** Reads a whole answer. Throws an `AttemptError` if it holds none. */
export function readCompletion(completion: WireCompletion | null): ChatResponse {
  throwIfError(completion);
  const choice = completion?.choices?.[0];
  if (!choice?.message) throw new AttemptError("the answer holds no message", { retryable: true });
  const calls = new ToolCallAssembly();
  for (const [index, call] of callsOf(choice.message).entries()) calls.add({ ...call, index });
  const text = textOf(choice.message);
  checkAnswerSize(text.length + calls.characters);
  return respond(text, calls, choice.finish_reason, completion?.usage);
}

/** Puts a streamed answer together, piece by piece. */
export class StreamedCompletion {
  readonly #calls = new ToolCallAssembly();
  #text = "";
  #finish: string | undefined;
  #usage: WireCompletion["usage"];

  /** Takes one chunk and returns the text it adds. Throws an `AttemptError` if it is an error instead. */
  add(chunk: WireCompletion | null): string {
    throwIfError(chunk);
    if (chunk?.usage) this.#usage = chunk.usage;
    const choice = chunk?.choices?.[0];
    if (!choice) return "";
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    // The whole answer at once, unless it only repeats at the end what came before.
    const piece = choice.delta ?? (this.#isEmpty ? choice.message : undefined);
    for (const call of callsOf(piece)) this.#calls.add(call);
    const text = textOf(piece);
    this.#text += text;
    checkAnswerSize(this.#text.length + this.#calls.characters);
    return text;
  }

  /**
   * The whole answer. Throws an `AttemptError` if the stream ended before the model had finished: it gave no
   * reason for stopping, and the server sent no end mark.
   */
  finish(endMarkCame: boolean): ChatResponse {
    if (this.#finish === undefined && (this.#isEmpty || !endMarkCame)) {
      throw new AttemptError("the stream ended before the answer was complete", { retryable: true });
    }
    return respond(this.#text, this.#calls, this.#finish, this.#usage);
  }

  get #isEmpty(): boolean {
    return this.#text === "" && this.#calls.size === 0;
  }
}

/** Servers that only resemble the API answer 200 with an error inside, or with an error in place of the answer. */
function throwIfError(completion: WireCompletion | null): void {
  if (completion?.error) throw bodyError(completion.error);
  if (!isRecord(completion) || completion.choices) return;
  if (typeof (completion.message ?? completion.detail) === "string") throw bodyError(completion);
}

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/** Tool calls from their pieces, tolerant of servers that leave out ids, indexes or both. */
class ToolCallAssembly {
  readonly #calls: PartialCall[] = [];
  /** The last call of each index: a search through all calls takes quadratic time. */
  readonly #byIndex = new Map<number, PartialCall>();
  #characters = 0;

  get size(): number {
    return this.#calls.length;
  }

  /** The length of all arguments so far. */
  get characters(): number {
    return this.#characters;
  }

  add(piece: WireToolCall): void {
    const index = piece.index ?? undefined;
    const id = shortText(piece.id, "an id", MAX_ID_CHARACTERS);
    const name = shortText(piece.function?.name, "a name", MAX_NAME_CHARACTERS);
    const text = argumentText(piece.function?.arguments);
    this.#characters += text.length;
    const target = this.#find(index, id, name);
    if (!target) {
      if (this.#calls.length >= MAX_TOOL_CALLS) throw excessive(`more than ${MAX_TOOL_CALLS} tool calls`);
      const call = { id, name, arguments: text };
      this.#calls.push(call);
      if (index !== undefined) this.#byIndex.set(index, call);
      return;
    }
    target.id ||= id;
    target.name ||= name;
    target.arguments += text;
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
}

/** Some servers send the arguments as an object where the API says text. */
function argumentText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : jsonText(value);
}

/** An id or a name: text, and no more of it than one can have. */
function shortText(value: unknown, what: string, most: number): string {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  if (text.length > most) throw excessive(`${what} of a tool call with ${text.length} characters`);
  return text;
}

function checkAnswerSize(characters: number): void {
  if (characters > MAX_ANSWER_CHARACTERS) throw excessive(`more than ${MAX_ANSWER_CHARACTERS} characters`);
}

function excessive(what: string): AttemptError {
  return new AttemptError(`the answer has ${what}`, { retryable: false });
}

/** The calls of a message, or of a piece of one; what is none is left out. */
function callsOf(message: Maybe<WireMessage>): WireToolCall[] {
  const calls = message?.tool_calls;
  return Array.isArray(calls) ? calls.filter(isRecord) : [];
}

/** What the model says: its answer, or why it gives none. */
function textOf(message: Maybe<WireMessage>): string {
  return plainText(message?.content) || plainText(message?.refusal);
}

/** Text, or the text among several parts: some servers send thoughts and text as a list. */
function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

function respond(
  text: string,
  calls: ToolCallAssembly,
  finish: Maybe<string>,
  usage: WireCompletion["usage"],
): ChatResponse {
  const toolCalls = calls.finished();
  if (text === "" && toolCalls.length === 0 && /^(tool|function)_calls?$/.test(finish ?? "")) {
    throw new AttemptError("the answer announces a tool call and holds none that can be read", {
      retryable: true,
    });
  }
  return {
    content: text === "" ? null : text,
    toolCalls,
    finishReason: finishReason(finish, toolCalls.length > 0),
    ...(usage && { usage: readUsage(usage) }),
  };
}

function finishReason(reason: Maybe<string>, hasCalls: boolean): FinishReason {
  if (reason === "length" || reason === "content_filter") return reason;
  return hasCalls ? "tool_calls" : "stop";
}

function readUsage(usage: NonNullable<WireCompletion["usage"]>): TokenUsage {
  return { inputTokens: tokens(usage.prompt_tokens), outputTokens: tokens(usage.completion_tokens) };
}

function tokens(count: unknown): number {
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : 0;
}
