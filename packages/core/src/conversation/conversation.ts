import { AgentError } from "../errors.js";
import type { ChatMessage } from "../providers/interface.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkFunction,
  checkNotNegative,
  checkNumber,
  checkObject,
  checkText,
  invalidArgument,
} from "../toolkit/hostOptions/checks.js";
import type { ToolResult } from "../tools/execution.js";
import type { ToolContext } from "../tools/tool.js";
import { findHistoryProblem } from "./history.js";
import { type PackState, PackStates, type StateChange, type StateEntry } from "./packState.js";
import { findPendingProblem, type PendingCall, type PendingRound } from "./pending.js";
import { replaceRange } from "./replaceRange.js";
import { newSavedFile, type Session, saveToState, sessionOf } from "./session.js";
import { changesOfHistory } from "./sessionFile.js";
import { NOTHING_SPENT, type Spending } from "./spending.js";

export type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
export type ToolMessage = Extract<ChatMessage, { role: "tool" }>;

/** One change of a conversation, as a recorder sees it. Applying all changes in order to an empty one rebuilds it. */
export type ConversationChange =
  | ({ readonly type: "message"; readonly message: ChatMessage } & Partial<MessageInfo>)
  /** The result of a call of the newest answer. A later one for the same call replaces it. */
  | ({
      readonly type: "result";
      readonly message: ToolMessage;
      readonly details?: ResultDetails;
    } & Partial<MessageInfo>)
  /** The calls of the newest answer that wait for a decision; an empty list once all are decided. */
  | { readonly type: "suspended"; readonly calls: readonly PendingCall[] }
  | {
      readonly type: "replace";
      readonly start: number;
      readonly count: number;
      readonly messages: readonly ChatMessage[];
    }
  | { readonly type: "system"; readonly systemPrompt: string }
  /** A pack set its state. */
  | ({ readonly type: "state" } & StateEntry)
  /** The usage of one or more requests. */
  | ({ readonly type: "spent" } & Spending);

/** Display data of a result besides its text. Stored with the session and never sent to a model. */
export type ResultDetails = Pick<ToolResult, "outcome" | "durationMs" | "summary" | "about" | "view">;

/** The id of a message, and when it joined the conversation. Never sent to a model. */
export interface MessageInfo {
  readonly id: string;
  /** An ISO date. Absent if it is not known. */
  readonly at?: string;
}

/** Receives every change and stores it, for example in a file or a database. */
export interface Recording {
  readonly path: string;
  readonly save: (reason: string) => Promise<void>;
  /** Resolves once all changes are stored. A tool that can change something waits for it. */
  readonly flush?: () => Promise<void>;
  /** The session as it was recorded, with the messages that compaction replaced. */
  readonly whole?: () => Promise<Session>;
}

export interface ConversationOptions {
  readonly systemPrompt?: string;
  /** A saved conversation to continue. Its system prompt is used unless `systemPrompt` is given. */
  readonly session?: Session | undefined;
  /**
   * Where `save_session_context` writes. Default: a new file in the user's state directory (`$XDG_STATE_HOME` or
   * `~/.local/state`, then `agent/saved`), where only the newest files are kept. Never the working directory.
   */
  readonly sessionContextFilePath?: string;
}

const checkList = arrayOf("messages");

const OPTIONS: OptionChecks<ConversationOptions> = {
  systemPrompt: checkText,
  session: (name, value) => checkSession(name, value),
  sessionContextFilePath: checkText,
};

/**
 * The messages between a user, a model and its tools, and the system prompt. Its history is valid for every provider at
 * any time: an answer with tool calls is added together with all their results.
 */
export class Conversation implements ToolContext {
  readonly #messages: ChatMessage[] = [];
  // Created with the first listener: a program may hold thousands of idle conversations, and most have no listener.
  #listeners: Set<(change: ConversationChange) => void> | undefined;
  #systemPrompt: string;
  #filePath: string | undefined;
  #defaultPath: string | undefined;
  #isReserved = false;
  #recording: Recording | undefined;
  #pending: PendingRound | undefined;
  /** The answer whose calls are running. */
  #open: AssistantMessage | undefined;
  // Created with the first detail or state: most conversations of a server are idle.
  #details: WeakMap<ToolMessage, ResultDetails> | undefined;
  #states: PackStates | undefined;
  #spending: Spending;
  #info: WeakMap<ChatMessage, { id?: string; readonly at?: string }> | undefined;

  /** Throws `session_invalid` for a session that no provider would accept. */
  constructor(options: ConversationOptions = {}) {
    checkOptions("Conversation", options, OPTIONS);
    const { session } = options;
    this.#systemPrompt = options.systemPrompt ?? session?.systemPrompt ?? "";
    this.#filePath = options.sessionContextFilePath;
    if (session) replaceRange(this.#messages, 0, 0, session.messages);
    this.#pending = session?.pending;
    this.#spending = session?.spending ?? NOTHING_SPENT;
    for (const [message, details] of session?.details ?? []) this.#keepDetails(message, details);
    for (const [message, info] of session?.info ?? []) this.#keepInfo(message, info);
    this.#loadStates(session);
  }

  /**
   * Rebuilds a conversation from its changes, read from a store or reported by `onChange`. Throws `session_invalid`.
   */
  static from(changes: readonly ConversationChange[], options: ConversationOptions = {}): Conversation {
    arrayOf("changes")("changes", changes);
    return new Conversation({ ...options, session: sessionOf(changes) });
  }

  /** The instructions that the model reads before the messages; packs may add to them. */
  get systemPrompt(): string {
    return this.#systemPrompt;
  }

  /** The live array of messages, not a copy. */
  get sessionContext(): readonly ChatMessage[] {
    return this.#messages;
  }

  /** The answer whose calls wait for a decision, if any: `Agent.resume` continues with it. */
  get pending(): PendingRound | undefined {
    return this.#pending;
  }

  /** The display data of a result besides its text, if known: outcome, title and view. */
  detailsOf(message: ToolMessage): ResultDetails | undefined {
    return this.#details?.get(message);
  }

  /** The id of a message and when it joined the conversation. */
  infoOf(message: ChatMessage): MessageInfo {
    checkObject("message", message);
    const info = this.#info?.get(message) ?? this.#keepInfo(message, {});
    info.id ??= crypto.randomUUID();
    return info as MessageInfo;
  }

  /** The position of the message with this id; -1 if there is none. */
  indexOf(id: string): number {
    checkText("id", id);
    return this.#messages.findIndex((message) => this.#info?.get(message)?.id === id);
  }

  /**
   * Creates a conversation with the messages before the one with this id, or with all messages if there is no id. Pack
   * states are those of that moment, and the spending so far is kept. Pending calls are not copied.
   */
  branch(id?: string): Conversation {
    const end = id === undefined ? this.#messages.length : this.indexOf(id);
    if (end === -1) throw invalidArgument("id", "the id of a message of this conversation", id);
    const messages = this.#messages.slice(0, end);
    return new Conversation({
      session: {
        systemPrompt: this.#systemPrompt,
        messages,
        details: new Map(
          messages.flatMap((message) => {
            const details = message.role === "tool" ? this.detailsOf(message) : undefined;
            return message.role === "tool" && details ? [[message, details] as const] : [];
          }),
        ),
        info: new Map(messages.map((message) => [message, this.infoOf(message)])),
        states: this.packStates.filter(({ at }) => at <= end),
        spending: this.#spending,
      },
    });
  }

  /** Removes the messages from this position on and rewinds the pack states. Spending is kept. */
  rewind(end: number): void {
    checkNotNegative("end", end);
    if (this.#pending) this.settlePending("Not run: the user went back to an earlier message.");
    this.replace(end, Math.max(0, this.#messages.length - end), []);
  }

  /** The changes that rebuild the current conversation: `Conversation.from(changes)` is a copy of it. JSON values. */
  changes(): ConversationChange[] {
    const { systemPrompt } = this;
    return [
      ...(systemPrompt === "" ? [] : [{ type: "system" as const, systemPrompt }]),
      ...changesOfHistory(
        this.#messages,
        this.#pending,
        (one) => this.detailsOf(one),
        this.packStates,
        (one) => this.infoOf(one),
        this.#spending,
      ),
    ];
  }

  /**
   * The conversation with all of its messages, to display or export it. Compaction replaces older messages with a
   * summary for the model, but the recording still has them. Without a recording it resolves to this conversation.
   * Rejects if the recording cannot be read.
   */
  async whole(): Promise<Conversation> {
    const session = await this.#recording?.whole?.();
    if (!session) return this;
    const messages = session.messages.slice();
    // An answer whose calls still run is recorded before it is part of the history.
    const open = this.#open && this.infoOf(this.#open).id;
    const at = messages.findIndex((message) => session.info?.get(message)?.id === open);
    if (open !== undefined && at !== -1) messages.splice(at, 1 + (this.#open?.tool_calls?.length ?? 0));
    return new Conversation({ session: { ...session, messages }, systemPrompt: this.#systemPrompt });
  }

  /** Resolves once all changes so far are stored, where they are. Rejects if they cannot be. */
  async flush(): Promise<void> {
    await this.#recording?.flush?.();
  }

  /** Whether changes are stored by something that has to be waited for. */
  get isStored(): boolean {
    return this.#recording?.flush !== undefined;
  }

  /**
   * Records that these calls of the newest answer wait for a decision, or with none that they were decided: a program that is
   * killed meanwhile asks again.
   */
  noteWaiting(calls: readonly PendingCall[]): void {
    arrayOf("calls")("calls", calls);
    this.#tell({ type: "suspended", calls });
  }

  /** The path of the recording, or else the path that `save_session_context` writes to. */
  get sessionContextFilePath(): string {
    if (this.#recording) return this.#recording.path;
    if (this.#filePath !== undefined) return this.#filePath;
    // Made on first use: most conversations are never saved.
    this.#defaultPath ??= newSavedFile();
    return this.#defaultPath;
  }

  /** Saves the conversation through its recorder, or to the default file. `undefined` if a path was given. */
  get save(): ((reason: string) => Promise<void>) | undefined {
    if (this.#recording || this.#filePath !== undefined) return this.#recording?.save;
    const { sessionContextFilePath: path, systemPrompt, sessionContext: messages, pending } = this;
    return (reason) =>
      saveToState(path, {
        reason,
        systemPrompt,
        messages,
        ...(pending && { pending }),
        ...(this.#states && { states: this.#states.entries() }),
        spending: this.#spending,
      });
  }

  /**
   * Reserves the conversation for one agent while it answers, until the returned function is called. Throws `busy` if it
   * is reserved: the messages of two agents would mix.
   */
  reserve(): () => void {
    if (this.#isReserved) {
      throw new AgentError(
        "busy",
        "Another agent is answering a message in this conversation. Wait for it, or give this agent its own Conversation.",
      );
    }
    this.#isReserved = true;
    return () => {
      this.#isReserved = false;
    };
  }

  /** Takes effect with the next request to the model. */
  setSystemPrompt(prompt: string): void {
    checkText("prompt", prompt);
    if (prompt === this.#systemPrompt) return;
    this.#systemPrompt = prompt;
    this.#tell({ type: "system", systemPrompt: prompt });
  }

  /**
   * Calls `listener` with every change from now on, until the returned function is called. A recorder also says where
   * it writes and how to save, so that `save_session_context` does not write to the same file.
   */
  onChange(listener: (change: ConversationChange) => void, recording?: Recording): () => void {
    checkFunction("listener", listener);
    if (recording !== undefined) checkObject("recording", recording);
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    if (recording) this.#recording = recording;
    return () => {
      this.#listeners?.delete(listener);
      if (this.#recording === recording) this.#recording = undefined;
    };
  }

  /** Adds a message at the end. An agent adds its own: this is for hosts that build a conversation themselves. */
  append(message: ChatMessage, id?: string): void {
    checkObject("message", message);
    if (id !== undefined) checkText("id", id);
    this.#messages.push(message);
    this.#keepInfo(message, { ...(id !== undefined && { id }), at: new Date().toISOString() });
    if (this.#listeners) this.#tell({ type: "message", message, ...this.infoOf(message) });
  }

  /** Starts a round: recorders get the answer immediately; it joins the history together with all results. */
  openRound(answer: AssistantMessage): OpenRound {
    checkObject("answer", answer);
    this.#keepInfo(answer, { at: new Date().toISOString() });
    if (this.#listeners) this.#tell({ type: "message", message: answer, ...this.infoOf(answer) });
    return this.#roundOf(answer, []);
  }

  /** Continues the round that waited for a decision. Recorders have its answer already. */
  reopenRound(pending: PendingRound): OpenRound {
    checkObject("pending", pending);
    checkList("pending.results", pending.results);
    return this.#roundOf(pending.answer, pending.results);
  }

  #roundOf(answer: AssistantMessage, known: readonly ToolMessage[]): OpenRound {
    this.#open = answer;
    const recorded = new Set<ToolMessage>(known);
    const detailsById = new Map(known.map((message) => [message.tool_call_id, this.detailsOf(message)]));
    const add = (message: ToolMessage): void => {
      const details = detailsById.get(message.tool_call_id);
      if (details) this.#keepDetails(message, details);
      this.#keepInfo(message, { at: new Date().toISOString() });
      if (this.#listeners) {
        this.#tell({ type: "result", message, ...(details && { details }), ...this.infoOf(message) });
      }
    };
    return {
      addResult: (message, details) => {
        recorded.add(message);
        detailsById.set(message.tool_call_id, details);
        add(message);
      },
      close: (results) => {
        for (const message of results) {
          if (!recorded.has(message)) add(message);
        }
        this.#open = undefined;
        this.#pending = undefined;
        this.#messages.push(answer, ...results);
      },
      suspend: (results, calls) => {
        this.#open = undefined;
        this.#pending = { answer, results, calls };
        this.#tell({ type: "suspended", calls });
      },
    };
  }

  /** Puts `messages` in place of `count` messages from `start` on. */
  replace(start: number, count: number, messages: readonly ChatMessage[]): void {
    checkNumber("start", start);
    checkNumber("count", count);
    checkList("messages", messages);
    const { length } = this.#messages;
    replaceRange(this.#messages, start, count, messages);
    this.#states?.replaced(start, count, messages.length, length);
    this.#tell({ type: "replace", start, count, messages });
  }

  /** Continues another session in this conversation. Its system prompt stays. Throws `session_invalid` for a broken one. */
  switchTo(session: Session): void {
    checkSession("session", session);
    this.#pending = undefined;
    this.replace(0, this.#messages.length, session.messages);
    this.#pending = session.pending;
    for (const [message, details] of session.details ?? []) this.#keepDetails(message, details);
    for (const [message, info] of session.info ?? []) this.#keepInfo(message, info);
    this.#states = undefined;
    this.#spending = session.spending ?? NOTHING_SPENT;
    this.#loadStates(session);
  }

  /** What all requests in this conversation have taken, those of child agents and of removed messages included. */
  get spending(): Spending {
    return this.#spending;
  }

  /** Adds what a request took. */
  addSpending({ tokens, cost }: Spending): void {
    checkNotNegative("tokens", tokens);
    checkNotNegative("cost", cost);
    this.#spending = { tokens: this.#spending.tokens + tokens, cost: this.#spending.cost + cost };
    this.#tell({ type: "spent", tokens, cost });
  }

  /** What a pack keeps with this conversation. */
  packState(pack: string): PackState {
    checkText("pack", pack);
    return {
      get: () => this.#states?.get(pack),
      set: (value) => this.#setState(pack, value),
    };
  }

  /** The states of packs and when they were set, oldest first. */
  get packStates(): readonly StateEntry[] {
    return this.#states?.entries() ?? [];
  }

  /** How often packs have changed their states. */
  get stateVersion(): number {
    return this.#states?.version ?? 0;
  }

  /** The states that changed after this version, for a journal. */
  statesSince(version: number): readonly StateChange[] {
    checkNumber("version", version);
    return this.#states?.changedSince(version) ?? [];
  }

  /** Applies the changes that a journal has kept, unless there are newer ones. */
  replayStates(changes: readonly StateChange[]): void {
    arrayOf("changes")("changes", changes);
    for (const { pack, version, value } of changes) {
      if (version > this.stateVersion) this.#setState(pack, value, version);
    }
  }

  #setState(pack: string, value: unknown, version?: number): void {
    this.#states ??= new PackStates();
    const at = this.#messages.length;
    this.#states.set(pack, at, value, version);
    this.#tell({ type: "state", pack, at, ...(value !== undefined && { value }) });
  }

  #loadStates(session: Session | undefined): void {
    if (session?.states === undefined || session.states.length === 0) return;
    this.#states = new PackStates();
    for (const { pack, at, value } of session.states) this.#states.set(pack, at, value);
  }

  #keepDetails(message: ToolMessage, details: ResultDetails): void {
    this.#details ??= new WeakMap();
    this.#details.set(message, details);
  }

  /** Removes all messages and the states of packs. The system prompt and the spending are kept. */
  clear(): void {
    if (this.#pending) this.settlePending("Not run: the conversation was cleared.");
    if (this.#messages.length > 0) this.replace(0, this.#messages.length, []);
    for (const pack of this.#states?.packs() ?? []) this.#setState(pack, undefined);
  }

  /** Gives this result to every call that waits for a decision, so that the conversation can continue without one. */
  settlePending(text: string): void {
    checkText("text", text);
    const { pending } = this;
    if (!pending) return;
    const known = new Map(pending.results.map((message) => [message.tool_call_id, message]));
    const results = (pending.answer.tool_calls ?? []).map(
      ({ id }): ToolMessage => known.get(id) ?? { role: "tool", tool_call_id: id, content: text },
    );
    this.reopenRound(pending).close(results);
  }

  #keepInfo(message: ChatMessage, info: { id?: string; readonly at?: string }) {
    this.#info ??= new WeakMap();
    this.#info.set(message, info);
    return info;
  }

  #tell(change: ConversationChange): void {
    for (const listener of this.#listeners ?? []) listener(change);
  }
}

/** An answer whose calls are running. */
export interface OpenRound {
  /** Passes the result of one call to recorders immediately. */
  addResult(message: ToolMessage, details?: ResultDetails): void;
  /** Adds the answer and all results, in the order of the calls, to the history. Recorders get the changed results. */
  close(results: readonly ToolMessage[]): void;
  /** Keeps the answer out of the history until these calls are decided. */
  suspend(results: readonly ToolMessage[], calls: readonly PendingCall[]): void;
}

function checkSession(_name: string, session: unknown): void {
  const { systemPrompt, messages, pending } = (session ?? {}) as Partial<Session>;
  const problem =
    systemPrompt !== undefined && typeof systemPrompt !== "string"
      ? "its system prompt is not a string"
      : (findHistoryProblem(messages) ?? (pending && findPendingProblem(pending)));
  if (problem === undefined) return;
  throw new AgentError("session_invalid", `The session cannot be continued: ${problem}.`);
}
