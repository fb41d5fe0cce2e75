import { type AnswerLimits, isRecord, jsonText } from "@agent/core/provider";

/** Fields of a message that servers expect back with it: DeepSeek, OpenRouter, vLLM, LiteLLM and Gemini. */
const ECHOED_FIELDS = [
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "thinking_blocks",
  "extra_content",
] as const;
// A stream sends these fields of a block in pieces and all other fields whole.
const STREAMED_TEXTS: ReadonlySet<string> = new Set(["text", "summary", "thinking"]);
// The types of blocks that a stream sends in pieces.
const STREAMED_BLOCKS = /(^|\.)(text|summary|thinking)$/;

type Fields = Record<string, unknown>;

/** Provider state of an answer on chat completions. Bound to its model: other models refuse it. */
export interface ChatState {
  readonly model: string;
  /** Fields of the message, exactly as they came. */
  readonly message?: Readonly<Fields>;
  /** Fields of each tool call that are not part of the API; `null` for a call without any. */
  readonly calls?: readonly (Readonly<Fields> | null)[];
}

/** Collects the fields of a message that the next request sends back, from a whole answer or a stream. */
export class EchoedFields {
  readonly #fields: Fields = {};
  readonly #limits: AnswerLimits;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  get found(): Readonly<Fields> | undefined {
    return Object.keys(this.#fields).length > 0 ? this.#fields : undefined;
  }

  add(message: Readonly<Fields>): void {
    for (const name of ECHOED_FIELDS) {
      const value = message[name];
      if (value !== undefined && value !== null) this.#append(name, value);
    }
    const { content } = message;
    // A list of parts that includes reasoning, as Mistral sends it, is sent back as a list.
    if (Array.isArray(content) && content.some(isThinking)) this.#append("content", content);
    else if (this.#fields.content !== undefined && typeof content === "string" && content !== "") {
      this.#append("content", [{ type: "text", text: content }]);
    }
  }

  #append(name: string, value: unknown): void {
    this.#limits.addCharacters(typeof value === "string" ? value.length : jsonText(value).length);
    this.#fields[name] = appended(this.#fields[name], value);
  }
}

/** The readable reasoning in a message or a piece of one. */
export function reasoningOf(message: Readonly<Fields>): string {
  const { reasoning_content: content, reasoning, content: parts } = message;
  if (typeof content === "string" && content !== "") return content;
  if (typeof reasoning === "string" && reasoning !== "") return reasoning;
  if (!Array.isArray(parts)) return "";
  return parts.map((part) => (isRecord(part) ? thinkingText(part.thinking) : "")).join("");
}

/** Reads the state of an earlier answer of this model, or returns `undefined`. The file it comes from is not trusted. */
export function readChatState(value: unknown, model: string): ChatState | undefined {
  if (!isRecord(value) || value.model !== model) return undefined;
  const { message, calls } = value;
  return {
    model,
    ...(isRecord(message) && { message }),
    ...(Array.isArray(calls) && { calls: calls.map((own) => (isRecord(own) ? own : null)) }),
  };
}

function isThinking(part: unknown): boolean {
  return isRecord(part) && part.type === "thinking";
}

function thinkingText(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return "";
  return thinking.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}

function appended(before: unknown, next: unknown): unknown {
  if (before === undefined) return Array.isArray(next) ? appendedBlocks([], next) : next;
  if (typeof before === "string" && typeof next === "string") return before + next;
  if (Array.isArray(before) && Array.isArray(next)) return appendedBlocks(before, next);
  if (isRecord(before) && isRecord(next)) return { ...before, ...next };
  return next;
}

/** Appends blocks to a list. A block that continues the last one is joined with it, so that the order is kept. */
function appendedBlocks(before: unknown[], next: readonly unknown[]): unknown[] {
  for (const block of next) {
    const last = before.at(-1);
    if (isRecord(last) && isRecord(block) && continues(last, block)) {
      before[before.length - 1] = joined(last, block);
    } else before.push(block);
  }
  return before;
}

function continues(last: Fields, block: Fields): boolean {
  return (
    typeof block.type === "string" &&
    block.type === last.type &&
    block.index === last.index &&
    STREAMED_BLOCKS.test(block.type) &&
    // A signature ends a block: the next piece with the same index starts a new one.
    !(typeof last.signature === "string" && last.signature !== "")
  );
}

function joined(last: Fields, block: Fields): Fields {
  const result: Fields = { ...last };
  for (const [name, value] of Object.entries(block)) {
    if (value === null || value === undefined) continue;
    result[name] = STREAMED_TEXTS.has(name) ? appended(last[name] ?? undefined, value) : value;
  }
  return result;
}
