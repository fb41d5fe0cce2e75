import { isRecord } from "../toolkit/isRecord.js";
import { bodyError } from "./failure.js";
import type { ChatResponse, ChatToolCall, FinishReason, TokenUsage } from "./interface.js";
import { AttemptError } from "./retry.js";

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
  return respond(textOf(choice.message), calls, choice.finish_reason, completion?.usage);
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

/** Tool calls from their pieces, tolerant of servers that leave out ids, indexes or both. */
class ToolCallAssembly {
  readonly #calls: { index: number | undefined; id: string; name: string; arguments: string }[] = [];

  get size(): number {
    return this.#calls.length;
  }

  add(piece: WireToolCall): void {
    const index = piece.index ?? undefined;
    const id = piece.id ?? "";
    const name = piece.function?.name ?? "";
    const text = argumentText(piece.function?.arguments);
    const target = this.#find(index, id, name);
    if (!target) {
      this.#calls.push({ index, id, name, arguments: text });
      return;
    }
    target.id ||= id;
    target.name ||= name;
    target.arguments += text;
  }

  /** The call a piece belongs to: the same index, unless a new id together with a name starts another one. */
  #find(index: number | undefined, id: string, name: string) {
    const known =
      index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
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
  return typeof value === "string" ? value : JSON.stringify(value);
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
  return typeof count === "number" && count >= 0 ? count : 0;
}
