import { describeValue, isRecord } from "@agent/internal";
import type { ChatMessage } from "../providers/interface.js";
import type {
  AssistantMessage,
  ConversationChange,
  MessageInfo,
  ResultDetails,
  ToolMessage,
} from "./conversation.js";
import { findHistoryProblem } from "./history.js";
import { isStateEntry, PackStates, type StateEntry } from "./packState.js";
import { findPendingProblem, type PendingCall, type PendingRound } from "./pending.js";
import { replaceRange } from "./replaceRange.js";
import type { Session } from "./session.js";
import { NOTHING_SPENT, type Spending } from "./spending.js";

const FORMAT = "agent-session";
const VERSION = 2;
/** Version 1 was one JSON object, replaced as a whole with every save. It can still be read. */
const OBJECT_VERSION = 1;

const HEADER_START = `{"format":"${FORMAT}","version":${VERSION},`;

const INTERRUPTED =
  "Interrupted: the program ended while this call ran. It may or may not have run. Check before you repeat it.";

/** One line of a session file after the first: a change of the conversation, or a note that it was saved. */
export type SessionEntry =
  | ConversationChange
  | { readonly type: "saved"; readonly at: string; readonly reason?: string };

/** The first line of a session file. Every line is JSON and ends with a newline; lines are only ever appended. */
function formatHeader(systemPrompt: string): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, createdAt: new Date().toISOString(), systemPrompt })}\n`;
}

export function formatEntry(entry: SessionEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The first lines of a file: the header and the existing messages. */
export function formatHistory(systemPrompt: string, changes: readonly ConversationChange[] = []): string {
  return formatHeader(systemPrompt) + changes.map(formatEntry).join("");
}

/** Converts messages to changes. */
export function changesOfHistory(
  messages: readonly ChatMessage[],
  pending?: PendingRound,
  detailsOf: (message: ToolMessage) => ResultDetails | undefined = () => undefined,
  states: readonly StateEntry[] = [],
  infoOf: (message: ChatMessage) => MessageInfo | undefined = () => undefined,
  spending: Spending = NOTHING_SPENT,
): ConversationChange[] {
  const result = (message: ToolMessage): ConversationChange => {
    const details = detailsOf(message);
    return { type: "result", message, ...(details && { details }), ...infoOf(message) };
  };
  const entries = messages.map(
    (message): ConversationChange =>
      message.role === "tool" && detailsOf(message)
        ? result(message)
        : { type: "message", message, ...infoOf(message) },
  );
  if (pending) {
    entries.push({ type: "message", message: pending.answer });
    for (const message of pending.results) entries.push(result(message));
    entries.push({ type: "suspended", calls: pending.calls });
  }
  for (const state of states) entries.push({ type: "state", ...state });
  if (spending.tokens > 0) entries.push({ type: "spent", ...spending });
  return entries;
}

/** A whole session as a file. */
export function formatSession(session: Omit<Session, "savedAt">): string {
  const { systemPrompt, messages, pending, reason, details, states, info, spending } = session;
  const saved = {
    type: "saved" as const,
    at: new Date().toISOString(),
    ...(reason !== undefined && { reason }),
  };
  const changes = changesOfHistory(
    messages,
    pending,
    (one) => details?.get(one),
    states,
    (one) => info?.get(one),
    spending,
  );
  return formatHistory(systemPrompt, changes) + formatEntry(saved);
}

/** The number of bytes that are complete lines: a killed writer leaves an incomplete one at the end. */
export function wholeLines(bytes: Uint8Array): number {
  return bytes.lastIndexOf(0x0a) + 1;
}

/** Options for building a session from its entries. */
interface ReplayOptions {
  readonly createdAt?: unknown;
  /** Keep the messages that compaction replaced, each before its summary. Default: only what the model sees. */
  readonly whole?: boolean;
}

/**
 * Reads a session file of version 1 or 2. Drops a truncated last line, and adds a result to a call that has none.
 * Throws an `Error` that describes the problem.
 */
export function parseSessionFile(text: string, whole = false): Session {
  const header = readHeader(text);
  if (!header) return parseObject(JSON.parse(text));
  return replayEntries(linesOf(text).map(readJson), header.systemPrompt, {
    createdAt: header.createdAt,
    whole,
  });
}

/** The changes of a session file, in order. The first is the system prompt. */
export function changesOf(text: string): ConversationChange[] {
  const { systemPrompt } = readHeader(text) ?? {};
  const first: ConversationChange[] =
    typeof systemPrompt === "string" && systemPrompt !== "" ? [{ type: "system", systemPrompt }] : [];
  const entries = linesOf(text).map(readJson) as SessionEntry[];
  return [...first, ...entries.filter((entry) => entry.type !== "saved")];
}

/** The complete lines after the first. */
function linesOf(text: string): string[] {
  const lines = text.slice(text.indexOf("\n") + 1, text.lastIndexOf("\n") + 1);
  return lines.split("\n").filter((line) => line !== "");
}

/** Whether lines can be added to this file: version 1 is one JSON object, and nothing can follow it. */
export function isAppendable(text: string): boolean {
  return readHeader(text) !== undefined;
}

/** Whether the file is an incomplete first line, left by a killed writer that had recorded nothing. */
export function isCutHeader(text: string): boolean {
  return !text.includes("\n") && text.startsWith(HEADER_START) && readJson(text) === undefined;
}

function readHeader(text: string): Record<string, unknown> | undefined {
  const first = readJson(text.slice(0, text.indexOf("\n") + 1));
  return isRecord(first) && first.format === FORMAT && first.version === VERSION ? first : undefined;
}

function parseObject(data: unknown): Session {
  const { format, version, systemPrompt, messages, reason, savedAt } = (data ?? {}) as Record<
    string,
    unknown
  >;
  if (format !== FORMAT) throw new Error(`"format" is not "${FORMAT}"`);
  if (version !== OBJECT_VERSION) {
    throw new Error(
      `it has version ${describeValue(version)}, and this program reads version 1 and ${VERSION}`,
    );
  }
  return checked({ systemPrompt, messages, reason, savedAt });
}

/** Builds a session from its entries. Throws an `Error` that describes the problem. */
export function replayEntries(
  entries: readonly unknown[],
  firstPrompt: unknown,
  { createdAt, whole = false }: ReplayOptions = {},
): Session {
  const history = new ReplayedHistory();
  let systemPrompt = firstPrompt;
  let saved: { at?: unknown; reason?: unknown } = {};
  const details = new Map<ToolMessage, ResultDetails>();
  const info = new Map<ChatMessage, MessageInfo>();
  const states = new PackStates();
  let spending = NOTHING_SPENT;
  for (const [index, given] of entries.entries()) {
    const entry = given as SessionEntry | undefined;
    if ((entry?.type === "message" || entry?.type === "result") && typeof entry.id === "string") {
      info.set(entry.message, { id: entry.id, ...(typeof entry.at === "string" && { at: entry.at }) });
    }
    switch (entry?.type) {
      case "message":
        history.append(entry.message);
        break;
      case "result":
        history.addResult(entry.message);
        if (isRecord(entry.details)) details.set(entry.message, entry.details);
        break;
      case "suspended":
        history.suspend(entry.calls);
        break;
      case "replace":
        if (!Array.isArray(entry.messages)) throw new Error(`line ${index + 2} replaces messages by none`);
        states.replaced(entry.start, entry.count, entry.messages.length, history.length);
        history.replace(entry.start, entry.count, entry.messages);
        break;
      case "system":
        ({ systemPrompt } = entry);
        break;
      case "saved":
        saved = entry;
        break;
      case "state":
        if (!isStateEntry(entry)) throw new Error(`line ${index + 2} is not the state of a pack`);
        states.set(entry.pack, entry.at, entry.value);
        break;
      case "spent":
        if (!(entry.tokens >= 0 && entry.cost >= 0))
          throw new Error(`line ${index + 2} does not say what was spent`);
        spending = { tokens: spending.tokens + entry.tokens, cost: spending.cost + entry.cost };
        break;
      default:
        throw new Error(`line ${index + 2} is not an entry of a session`);
    }
  }
  const pending = history.takePending();
  return checked({
    systemPrompt,
    pending,
    messages: whole ? history.whole() : history.close(),
    details,
    info,
    states: states.entries(),
    spending,
    reason: saved.reason,
    savedAt: saved.at ?? createdAt,
  });
}

interface ReplayedRound {
  readonly answer: AssistantMessage;
  readonly results: Map<string, ToolMessage>;
  /** The calls that wait for a decision, if the tool round was suspended. */
  suspended?: readonly PendingCall[];
}

/** Rebuilds the messages from the lines. The last round may lack some of its results. */
class ReplayedHistory {
  readonly #messages: ChatMessage[] = [];
  #round: ReplayedRound | undefined;
  /** The messages that compaction replaced, by the message in their place. */
  readonly #compacted = new Map<ChatMessage, readonly ChatMessage[]>();

  append(message: ChatMessage): void {
    if (message?.role === "tool") {
      this.addResult(message);
      return;
    }
    this.close();
    if (message?.role === "assistant" && (message.tool_calls?.length ?? 0) > 0) {
      this.#round = { answer: message, results: new Map() };
    } else {
      this.#messages.push(message);
    }
  }

  /** The number of messages, including completed tool rounds. */
  get length(): number {
    const { answer, suspended } = this.#round ?? {};
    return this.#messages.length + (answer && !suspended ? 1 + (answer.tool_calls?.length ?? 0) : 0);
  }

  addResult(message: ToolMessage): void {
    if (this.#round) this.#round.results.set(message.tool_call_id, message);
    // A result without its call: the check of the whole history names it.
    else this.#messages.push(message);
  }

  suspend(calls: readonly PendingCall[]): void {
    if (!this.#round) throw new Error("calls wait for a decision, and no answer asked for them");
    if (calls.length === 0) delete this.#round.suspended;
    else this.#round.suspended = calls;
  }

  /** The tool round that is still pending at the end of the file. */
  takePending(): PendingRound | undefined {
    const { answer, results, suspended } = this.#round ?? {};
    // A call with a result was decided before the program ended.
    const calls = suspended?.filter(({ id }) => !results?.has(id)) ?? [];
    if (!answer || !results || calls.length === 0) return undefined;
    this.#round = undefined;
    return { answer, results: [...results.values()], calls };
  }

  replace(start: number, count: number, messages: readonly ChatMessage[]): void {
    // A pending tool round is not part of the history yet, and is kept.
    if (!this.#round?.suspended) this.close();
    this.#keepCompacted(this.#messages.slice(start, start + count), messages);
    replaceRange(this.#messages, start, count, messages);
  }

  /** Compaction replaces messages with one message: a summary, or a result with shortened text. */
  #keepCompacted(removed: readonly ChatMessage[], [inPlace, ...others]: readonly ChatMessage[]): void {
    if (!inPlace || others.length > 0) return;
    const [first] = removed;
    const isSummary = inPlace.role === "user" && inPlace.generated === true;
    const isShortened =
      inPlace.role === "tool" && first?.role === "tool" && inPlace.tool_call_id === first.tool_call_id;
    if (!isSummary && !isShortened) return;
    const before = removed.flatMap((message) => this.#originals(message));
    this.#compacted.set(inPlace, isSummary ? [...before, inPlace] : before);
  }

  #originals(message: ChatMessage): readonly ChatMessage[] {
    return this.#compacted.get(message) ?? [message];
  }

  /** All messages, including those that compaction replaced. */
  whole(): ChatMessage[] {
    return this.close().flatMap((message) => this.#originals(message));
  }

  close(): ChatMessage[] {
    const round = this.#round;
    this.#round = undefined;
    if (!round) return this.#messages;
    this.#messages.push(round.answer);
    for (const { id } of round.answer.tool_calls ?? []) {
      this.#messages.push(round.results.get(id) ?? { role: "tool", tool_call_id: id, content: INTERRUPTED });
    }
    return this.#messages;
  }
}

function checked(
  data: Record<"systemPrompt" | "messages" | "reason" | "savedAt", unknown> & {
    pending?: PendingRound | undefined;
    details?: ReadonlyMap<ToolMessage, ResultDetails>;
    info?: ReadonlyMap<ChatMessage, MessageInfo>;
    states?: readonly StateEntry[];
    spending?: Spending;
  },
): Session {
  const { systemPrompt, messages, pending, details, info, states, spending, reason, savedAt } = data;
  if (typeof systemPrompt !== "string") throw new Error('"systemPrompt" is not a string');
  const problem = findHistoryProblem(messages) ?? (pending && findPendingProblem(pending));
  if (problem !== undefined) throw new Error(problem);
  return {
    systemPrompt,
    messages: messages as ChatMessage[],
    ...(pending && { pending }),
    ...(details && details.size > 0 && { details }),
    ...(info && info.size > 0 && { info }),
    ...(states && states.length > 0 && { states }),
    ...(spending && spending.tokens > 0 && { spending }),
    ...(typeof reason === "string" && { reason }),
    ...(typeof savedAt === "string" && { savedAt }),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
