import type { AgentEvent, ApprovalDecision, CallPreview, DescribedCall, ToolCapability } from "@agent/core";
import { check, isRecord } from "@agent/core/toolkit";
import type { ChatAction, ChatEvent } from "../events.js";
import { type ChatState, EMPTY_CHAT } from "../state/chatState.js";
import { reduceChat } from "../state/reduce.js";
import { ActionError, messageForPage } from "./actions.js";
import { toHex } from "./browserCookie.js";
import type { Follower, LiveChatOptions } from "./liveChat.js";

/**
 * The part of `RunAccess` of `@agent/durable` that a chat uses: an engine, or the runs of one tenant
 * (`engine.forTenant(…)`).
 */
export interface ChatRuns {
  get(id: string): Promise<ChatRun | undefined>;
  events(
    id: string,
    options: { readonly after?: string; readonly follow: boolean; readonly signal: AbortSignal },
  ): AsyncIterable<
    { readonly cursor: string } & ({ readonly event: LoggedEvent } | { readonly run: ChatRun })
  >;
  decide(id: string, key: string, decision: ApprovalDecision): Promise<boolean>;
  cancel(id: string, reason: string): Promise<boolean>;
  retry(id: string): Promise<boolean>;
  send(id: string, message: string): Promise<boolean>;
}

type LoggedEvent = AgentEvent | { readonly type: "claimed" } | { readonly type: "version" };

/** The fields of a run that a chat reads. */
interface ChatRun {
  readonly state: string;
  /** In what `get` resolves to. */
  readonly input?: unknown;
  readonly messages: readonly string[];
  readonly approvals: readonly {
    readonly key: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly capabilities: readonly ToolCapability[];
    readonly description: DescribedCall;
    readonly preview?: CallPreview;
  }[];
  readonly wait?: { readonly until: number; readonly reason: { readonly message: string } };
  readonly error?: { readonly message: string };
}

export interface RunChatOptions {
  readonly runs: ChatRuns;
  /** The id of the run: letters, digits, `_` and `-`. */
  readonly id: string;
  /** Starts the run with the user's first message. Its id must be `id`. */
  readonly start: (message: string) => Promise<unknown>;
  /** The user's first message, from the input of a run. Default: the input, or its `message`, if that is a text. */
  readonly firstMessage?: (input: unknown) => string | undefined;
}

/** How often a finished run is polled while a page is open: another process may have sent it a message. */
const LOOK_MS = 2000;
const ENDED = new Set(["done", "failed", "cancelled", "set_aside"]);

/**
 * A conversation that is a durable run: `open` of `createChatHandlers` may return it instead of an agent. A worker, in
 * whatever process, does the work; this server shows the log of the run and passes on the users' actions. It may be
 * restarted at any time, and several servers may show the same run.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 * import { createFileEngine, type RunDefinition, startRun, startWorker } from "@agent/durable";
 * import { createChatHandlers, runChat } from "@agent/web/server";
 *
 * const engine = createFileEngine("runs");
 * const support: RunDefinition<{ message: string }> = {
 *   name: "support",
 *   version: "1",
 *   create: ({ input, steps, approve }) => ({
 *     agent: new Agent(scriptedProvider(["Hello."]), { steps, approve }),
 *     message: input.message,
 *   }),
 * };
 * await startWorker(engine, { definitions: [support] });
 *
 * export const { GET, POST } = createChatHandlers({
 *   identify: (request) => request.headers.get("x-session") ?? undefined,
 *   open: (id) =>
 *     runChat({ runs: engine, id, start: (message) => startRun(engine, support, { message }, { id }) }),
 * });
 * ```
 */
export function runChat(options: RunChatOptions): RunChat {
  check.object("options", options);
  check.object("runs", options.runs);
  check.text("id", options.id);
  check.function("start", options.start);
  return new RunChat(options);
}

export class RunChat {
  readonly #options: RunChatOptions;
  readonly #followers = new Set<Follower>();
  readonly #end = new AbortController();
  #limits: LiveChatOptions | undefined;
  #name = "";
  #state: ChatState = { ...EMPTY_CHAT, isFixed: true };
  #cursor: string | undefined;
  /** User messages after the first: how many a page has seen, and how many the agent has received. */
  #shown = 0;
  #delivered = 0;
  /** Whether the newest answer is complete: what follows belongs to the next message. */
  #isAnswered = true;
  #exists = false;
  #reading: Promise<void> | undefined;
  /** The message that is being sent, and those before it. */
  #sending: Promise<void> = Promise.resolve();
  #lookTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RunChatOptions) {
    this.#options = options;
  }

  /** Reads what has happened so far. */
  async begin(limits: LiveChatOptions): Promise<this> {
    this.#limits = limits;
    const { id } = this.#options;
    this.#name = toHex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id)));
    const run = await this.#options.runs.get(id);
    if (run) {
      this.#begin(this.#firstMessage(run));
      await this.#readLog(false);
      this.#read();
    }
    this.#restartIdleTimer();
    return this;
  }

  /** The same on every server, but not the id, which may be a secret: that of an `HttpOnly` cookie. */
  get name(): string {
    return this.#name;
  }

  get state(): ChatState {
    return this.#state;
  }

  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    this.#restartIdleTimer();
    this.#lookLater();
    return () => {
      this.#followers.delete(follower);
      this.#restartIdleTimer();
    };
  }

  /** Performs an action. Rejects with an `ActionError` if it is not possible now. */
  async act(action: ChatAction): Promise<void> {
    const { runs, id } = this.#options;
    if (action.type === "send") {
      // One after the other: of two concurrent first messages, only one can start the run.
      const sent = this.#sending.then(() => this.#send(action));
      this.#sending = sent.catch(() => undefined);
      await sent;
    } else if (action.type === "decide") {
      if (!(await runs.decide(id, action.id, action.decision)))
        throw new ActionError(409, "This call does not wait for a decision any more.");
      this.#tell({ type: "decided", id: action.id });
    } else if (action.type === "answer") {
      // A run keeps no questions in memory, and its journal contains only decisions about calls.
      throw new ActionError(409, "A durable run asks no questions.");
    } else if (action.type === "stop") {
      if (await runs.cancel(id, "The user stopped it.")) this.#tell({ type: "stopping" });
    } else throw new ActionError(409, "The answer of a durable run cannot be replaced. Send a new message.");
  }

  async close(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#lookTimer);
    for (const follower of [...this.#followers]) follower.end();
    await this.#reading?.catch(() => undefined);
  }

  async #send({ content, replaces }: Extract<ChatAction, { type: "send" }>): Promise<void> {
    if (typeof content !== "string") throw new ActionError(400, "A durable run takes messages of text only.");
    if (replaces !== undefined)
      throw new ActionError(409, "A message of a durable run cannot be changed. Send a new one.");
    const { runs, id, start } = this.#options;
    if (!this.#exists) {
      const run = await runs.get(id);
      if (!run) {
        await start(content);
        this.#begin(content);
        this.#read();
        return;
      }
      await this.#join(run);
    }
    if (!(await runs.send(id, content))) {
      // A run that failed or was stopped continues with the message.
      await runs.retry(id);
      if (!(await runs.send(id, content))) throw new ActionError(409, "This run accepts no more messages.");
    }
    this.#showSent((await runs.get(id))?.messages ?? []);
    this.#read();
  }

  /** Shows a run that another server has started, up to now. */
  async #join(run: ChatRun): Promise<void> {
    if (this.#exists) return;
    this.#begin(this.#firstMessage(run));
    this.#reading = this.#readLog(false).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Shows sent messages. The log, or another server, may have shown some of them already. */
  #showSent(messages: readonly string[]): void {
    for (const content of messages.slice(this.#shown)) {
      this.#shown++;
      this.#tell({ type: "sent", id: this.#messageId(this.#shown), content });
    }
  }

  #firstMessage({ input }: ChatRun): string | undefined {
    const { firstMessage = messageOf } = this.#options;
    return firstMessage(input);
  }

  #begin(message: string | undefined): void {
    if (this.#exists) return;
    this.#exists = true;
    this.#isAnswered = false;
    if (message !== undefined) this.#tell({ type: "sent", id: this.#messageId(0), content: message });
  }

  #messageId(index: number): string {
    return `${this.#name}-${index}`;
  }

  /** Follows the run until it has ended. */
  #read(): void {
    if (this.#reading || this.#end.signal.aborted) return;
    const reading = this.#readLog(true)
      .catch((error: unknown) => {
        if (this.#end.signal.aborted) return;
        this.#limits?.onError(error);
        this.#tell({ type: "failed", message: messageForPage(error) });
      })
      .then(() => {
        this.#reading = undefined;
        this.#lookLater();
      });
    this.#reading = reading;
  }

  /** Shows what is new in the log; with `follow`, until the run has ended. */
  async #readLog(follow: boolean): Promise<void> {
    const { runs, id } = this.#options;
    const after = this.#cursor;
    const events = runs.events(id, {
      ...(after !== undefined && { after }),
      ...{ follow, signal: this.#end.signal },
    });
    for await (const entry of events) {
      this.#cursor = entry.cursor;
      if ("run" in entry) this.#showRun(entry.run);
      else await this.#showEvent(entry.event);
    }
  }

  async #showEvent(event: LoggedEvent): Promise<void> {
    if (event.type === "version") return;
    if (event.type === "claimed") {
      // The model is asked again for what it had not finished.
      const reason = "Another worker continues.";
      const isUnfinished = !this.#isAnswered && this.#state.messages.at(-1)?.role === "assistant";
      if (isUnfinished) this.#tell({ type: "retry", attempt: 1, delayMs: 0, reason });
      return;
    }
    if (event.type === "steered") {
      this.#delivered++;
      if (this.#delivered <= this.#shown) return;
      this.#shown = this.#delivered;
      this.#tell({ ...event, id: this.#messageId(this.#shown) });
      return;
    }
    if (this.#isAnswered) {
      this.#isAnswered = false;
      await this.#showNextMessage();
    }
    this.#isAnswered = event.type === "done";
    this.#tell(event);
  }

  /** The message with which the run continues after an answer; another server may have sent it. */
  async #showNextMessage(): Promise<void> {
    this.#delivered++;
    if (this.#delivered <= this.#shown) return;
    this.#shown = this.#delivered;
    const { runs, id } = this.#options;
    const content = (await runs.get(id))?.messages[this.#delivered - 1] ?? "";
    this.#tell({ type: "sent", id: this.#messageId(this.#shown), content });
  }

  #showRun({ state, approvals, wait, error }: ChatRun): void {
    const waiting = new Set(approvals.map(({ key }) => key));
    for (const { id } of this.#state.approvals) if (!waiting.has(id)) this.#tell({ type: "decided", id });
    const known = new Set(this.#state.approvals.map(({ id }) => id));
    for (const { key, ...request } of approvals) {
      if (!known.has(key))
        this.#tell({ type: "approval", request: { ...request, id: key, callId: callOf(key) } });
    }
    if (state === "failed" || state === "set_aside") {
      this.#tell({ type: "failed", message: error?.message ?? "The run failed." });
    } else if (state === "cancelled") this.#tell({ type: "stopped" });
    else if (wait) {
      const delayMs = Math.max(0, wait.until - Date.now());
      this.#tell({ type: "retry", attempt: 1, delayMs, reason: wait.reason.message });
    } else if (!ENDED.has(state) && this.#state.status === "idle") this.#tell({ type: "resumed" });
  }

  #tell(given: ChatEvent): void {
    const begins =
      given.type === "sent" || given.type === "steered" || this.#state.messages.at(-1)?.role === "user";
    const event = begins ? { ...given, at: new Date().toISOString() } : given;
    this.#state = reduceChat(this.#state, event);
    for (const follower of this.#followers) follower.event(event);
  }

  /** Polls the run again while a page is open and nothing is read. */
  #lookLater(): void {
    clearTimeout(this.#lookTimer);
    if (this.#reading || this.#followers.size === 0 || this.#end.signal.aborted) return;
    this.#lookTimer = setTimeout(async () => {
      const run = await this.#options.runs.get(this.#options.id).catch(() => undefined);
      const isNew = run !== undefined && !this.#exists;
      if (isNew) this.#begin(this.#firstMessage(run));
      // A short answer may be complete before it is looked for.
      const hasAnswered = run?.state === "done" && run.messages.length > this.#shown;
      if (isNew || hasAnswered || (run && !ENDED.has(run.state))) this.#read();
      else this.#lookLater();
    }, LOOK_MS);
    if (typeof this.#lookTimer === "object") this.#lookTimer.unref();
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    if (!this.#limits) return;
    const { idleMs, onIdleChange, onExpired } = this.#limits;
    // Also while it works: the run continues in its worker, and the log is read again.
    const isIdle = this.#followers.size === 0 && !this.#end.signal.aborted;
    onIdleChange(isIdle);
    if (isIdle) this.#idleTimer = setTimeout(onExpired, idleMs);
    if (typeof this.#idleTimer === "object") this.#idleTimer.unref();
  }
}

/** The id of the call in a journal key. */
function callOf(key: string): string {
  const encoded = /\/?call\.([^./]+)/.exec(key)?.[1];
  return encoded === undefined ? key : decodeURIComponent(encoded);
}

function messageOf(input: unknown): string | undefined {
  const message = isRecord(input) ? input.message : input;
  return typeof message === "string" ? message : undefined;
}
