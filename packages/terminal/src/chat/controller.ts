import { basename } from "node:path";
import type { Agent, AgentEvent, BackgroundJobs, Content, MentionSource, WakeNotice } from "@agent/core";
import type { Mode } from "@agent/core/host";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import type { CommandContext } from "../commands/context.js";
import type { MentionPlace } from "../input/mentions.js";
import type { MenuItem } from "../input/menu.js";
import { runningJobs, type Status } from "../screen/statusRow.js";
import { notifiesBy, showsProgress } from "../screen/terminalSignals.js";
import { CHAT_EXITS, type ChatExit } from "../system/signals.js";
import { BackgroundBlocks } from "./backgroundBlocks.js";
import { CallLog } from "./callLog.js";
import { ChatUsage } from "./chatUsage.js";
import { type ComposedMessage, Composer, takeBackUnanswered } from "./outgoing.js";
import { type Message, MessageQueue, NoticeQueue } from "./queues.js";
import type { ChatOptions, ReadyChat } from "./types.js";
import type { ChatView } from "./view.js";

const STOPPED = "Interrupted. What should it do instead?";

// The minimum interval between calls of the host's status function.
const STATUS_TEXT_MS = 1000;

/** The host's command that rewinds to an earlier message. */
const REWIND = "/rewind";

/** The slash commands. They are loaded together with the agent, so that the first prompt appears without them. */
export type SlashCommands = typeof import("../commands/slashCommands.js").slashCommands;

/** The parts of a chat that exist once the agent is loaded. */
interface Running extends Omit<ReadyChat, "end"> {
  readonly slash: SlashCommands;
  readonly commands: CommandContext;
}

/**
 * One conversation between a user and an agent: handles the user's input and reports events to the view. A message sent
 * while another is being answered steers that answer, or is queued.
 */
export class ChatController {
  readonly finished: Promise<ChatExit>;
  readonly #view: ChatView;
  readonly #mentions: MentionPlace;
  readonly #log = new CallLog();
  readonly #usage = new ChatUsage();
  #running: Running | undefined;
  /** Messages sent before the agent was loaded. */
  #early: Message[] = [];
  #finish: (code: ChatExit) => void = () => undefined;
  readonly #queue = new MessageQueue();
  readonly #notices = new NoticeQueue(() => this.#wakeUp());
  readonly #background = new BackgroundBlocks();
  readonly #composer = new Composer();
  readonly #shellLines = new ShellLines((event) => this.#see(event));
  #turn: AbortController | undefined;
  /** When the current turn began. */
  #startedAt: number | undefined;
  /** Pending while the host stores what the turn changed, after its answer is complete. */
  #storing: Promise<void> | undefined;
  #branch: string | undefined;
  #status: Status | undefined;
  #statusText: string | undefined;
  #isMakingText = false;
  #exitCode: ChatExit | undefined;

  /** `mentions` defines which files a message can attach. */
  constructor(view: ChatView, mentions: MentionPlace = { cwd: process.cwd() }) {
    this.#view = view;
    this.#mentions = mentions;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Called when the agent is loaded: sends the waiting messages first. */
  start({ agent, permissions, options }: Omit<ReadyChat, "end">, slash: SlashCommands): void {
    const commands: CommandContext = {
      agent,
      permissions,
      options,
      log: this.#log,
      view: this.#view,
      usage: this.#usage,
      busy: () => this.busy,
      stopTurn: () => this.stopTurn(),
      quit: () => this.quit(CHAT_EXITS.done),
      tellModel: (text) => this.#composer.addNote(text),
      send: (content, shown) => this.#send({ text: shown, shown, made: content }),
      work: (doing, run) => this.#work(doing, run),
      updateStatus: () => this.#updateStatus(),
      switched: new Map(),
      exported: new Set(),
    };
    this.#running = { agent, permissions, options, commands, slash };
    agent.onBackgroundEvent((event) => {
      this.#usage.see(event);
      this.#background.see(event);
      if (event.event.type === "done") this.#showBackground();
      if (event.event.type === "usage") this.#updateStatus();
    });
    this.#updateStatus();
    options.onStart?.(() => this.#updateStatus());
    const early = this.#early.splice(0);
    if (early.length > 0) this.#view.queued([]);
    for (const { text, shown } of early) this.submit(text, shown);
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** Whether the answer was interrupted and has not stopped yet. */
  get stopping(): boolean {
    return this.#turn?.signal.aborted ?? false;
  }

  /** Handles one input: a command runs immediately, a message now or when its turn comes. */
  submit(text: string, shown = text): void {
    if (this.#exitCode !== undefined) return;
    if (!this.#running) {
      if (text.trim() !== "") this.#early.push({ text, shown });
      this.#view.queued(this.#early.map((message) => message.shown));
      return;
    }
    const { slash, commands } = this.#running;
    if (slash.isSlashCommand(text, commands)) void this.#command(text);
    else if (/^!\s*\S/.test(text)) void this.#shellLine(text.slice(1).trim(), shown);
    else if (text.trim() === "") this.#view.idle();
    else this.#send({ text, shown });
  }

  async complete(before: readonly string[]): Promise<readonly string[] | undefined> {
    return this.#running?.slash.completeSlashCommand(before, this.#running.commands);
  }

  /** The commands, for the list that opens after a slash. */
  commandItems(): readonly MenuItem[] {
    return this.#running?.slash.commandItems(this.#running.commands) ?? [];
  }

  /** The mentions that packs offer, for the list that opens after an @. */
  mentionSources(): readonly MentionSource[] {
    return this.#running?.agent.registry.services.mentions ?? [];
  }

  /** Queues a notice of a pack for a turn that starts when no message is being answered. */
  wake(notice: WakeNotice): void {
    this.#notices.add(notice);
    this.#wakeUp();
  }

  #wakeUp(): void {
    if (this.#running && !this.#turn && this.#exitCode === undefined) this.#next();
  }

  /** Called when the current turn asks the user something. */
  asks(): void {
    if (this.#startedAt !== undefined) this.#notify(this.#startedAt, "asks you something");
  }

  /** Notifies the user about a long turn. */
  #notify(startedAt: number, what: string): void {
    const { notifyAfterMs = Number.POSITIVE_INFINITY, notifyBy = notifiesBy() } =
      this.#running?.options ?? {};
    if (performance.now() - startedAt >= notifyAfterMs) this.#view.notify(`${this.#name} ${what}`, notifyBy);
  }

  /** The chat's name in the title: its session, else its directory. */
  get #name(): string {
    return this.#running?.options.sessionName?.() ?? basename(process.cwd());
  }

  /** Updates the terminal's title and progress. */
  #showTitle(): void {
    const { title = false, progress = title && showsProgress() } = this.#running?.options ?? {};
    if (title) this.#view.title(`${this.busy ? "● " : ""}${this.#name} – agent`);
    if (progress) this.#view.progress(this.busy);
  }

  /** Switches to the next mode and returns it; `undefined` while the agent is being loaded. */
  cycleMode(): Mode | undefined {
    const mode = this.#running?.permissions.cycle();
    this.#updateStatus();
    return mode;
  }

  /** Moves the newest running command to the background; the answer continues without waiting for it. */
  async moveToBackground(): Promise<void> {
    this.#view.print([await moveToBackground(this.#log, this.#running?.agent.registry.services.jobs)]);
  }

  /** Interrupts the current answer; queued messages return to the input line. */
  stopTurn(): void {
    if (!this.#turn) return;
    this.#turn.abort();
    const waiting = this.#queue.takeWaiting().map(({ shown }) => shown);
    this.#view.queued([]);
    if (waiting.length > 0) this.#view.giveBack(waiting.join("\n"));
  }

  /** Whether there is an earlier message and a host that can rewind to it. */
  get canRewind(): boolean {
    if (!this.#running) return false;
    const { options, agent } = this.#running;
    return options.commands?.[REWIND] !== undefined && agent.conversation.sessionContext.length > 0;
  }

  /** Lets the user rewind to an earlier message. */
  rewind(): void {
    void this.#command(REWIND, false);
  }

  /** Takes the queued messages out of the queue, to edit them on the input line. `undefined` if there are none. */
  takeBackQueued(): string | undefined {
    // The oldest may already be on their way to the model.
    const steering = this.#queue.takeSteering(this.#running?.agent.takeSteering().length ?? 0);
    const taken = [...steering, ...this.#queue.takeWaiting(), ...this.#early.splice(0)];
    if (taken.length === 0) return undefined;
    this.#composer.putBack(taken.flatMap(({ notes = [] }) => notes));
    this.#showWaiting();
    return taken.map(({ shown }) => shown).join("\n");
  }

  /** Interrupts the current answer and ends the chat. */
  quit(code: ChatExit): void {
    this.#exitCode ??= code;
    this.#queue.takeWaiting();
    if (this.#turn) this.#turn.abort();
    else this.#afterTurn();
  }

  async #command(input: string, isTyped = true): Promise<void> {
    if (!this.#running) return;
    if (isTyped) this.#view.echo(input);
    // The answer is complete. A command such as /undo waits until its changes are stored.
    await this.#storing;
    const lines = await this.#running.slash.runSlashCommand(input, this.#running.commands);
    if (lines.length > 0) this.#view.print(lines);
    this.#updateStatus();
    if (!this.busy) this.#afterTurn();
  }

  async #work<T>(doing: string | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const turn = new AbortController();
    this.#turn = turn;
    this.#view.turnStarted(doing);
    try {
      return await run(turn.signal);
    } finally {
      await this.#shellLines.settled();
      this.#turn = undefined;
      this.#view.turnEnded(undefined);
    }
  }

  /** Runs a line as a separate turn, or as part of the current turn, which then ends with it. */
  async #shellLine(command: string, shown: string): Promise<void> {
    this.#view.echo(shown);
    const run = async (signal: AbortSignal): Promise<void> => {
      try {
        this.#composer.addNote(await this.#shellLines.run(command, signal));
      } catch (error) {
        this.#showProblem(error);
      }
    };
    if (this.#turn) return await run(this.#turn.signal);
    await this.#work(undefined, run);
    this.#afterTurn();
  }

  /** Steers the current turn, or starts one with the message. */
  #send(message: Message): void {
    if (this.busy && !this.stopping) void this.#steer(message);
    else {
      this.#queue.add(message);
      this.#next();
    }
  }

  /** Passes a message to the current turn. If that ends first, the message gets its own turn. */
  async #steer(message: Message): Promise<void> {
    const composed = await this.#compose(message);
    if (!composed || !this.#running) return;
    const { content, notes } = composed;
    if (this.#running.agent.steer(content)) this.#queue.addSteering({ ...message, notes });
    else {
      this.#composer.putBack(notes);
      this.#queue.add(message);
    }
    this.#showWaiting();
    if (!this.busy) this.#afterTurn();
  }

  #showWaiting(): void {
    this.#view.queued(this.#queue.shown);
  }

  /** Draws the background agents that have answered. An answer that is being written is not split. */
  #showBackground(): void {
    if (!this.#turn) for (const event of this.#background.takeEnded()) this.#view.event(event);
  }

  #next(): void {
    this.#showBackground();
    const message = this.#turn ? undefined : this.#queue.next();
    this.#showWaiting();
    const notice = this.#turn || message || !this.#running ? undefined : this.#notices.next();
    if (message) {
      this.#notices.userWrote();
      void this.#answer(message);
    } else if (notice) void this.#answerNotice(notice);
    else if (!this.#turn) this.#view.idle();
  }

  /** If something the message mentions cannot be attached: `undefined`, and the message returns to the input line. */
  async #compose(message: Message, signal?: AbortSignal): Promise<ComposedMessage | undefined> {
    const place = { ...this.#mentions, sources: this.mentionSources(), signal };
    const isPlanning = this.#running?.permissions.mode === "plan";
    try {
      const composed = await this.#composer.compose(message, place, isPlanning);
      const attached = composed.attached.map(escapeToLine).join(", ");
      const missing = composed.missing.map((name) => `  not attached: @${escapeToLine(name)} does not exist`);
      const lines = [...(attached === "" ? [] : [`  attached: ${attached}`]), ...missing];
      if (lines.length > 0) this.#view.print(lines);
      return composed;
    } catch (error) {
      this.#showProblem(error);
      this.#view.giveBack(message.shown);
      return undefined;
    }
  }

  #showProblem(error: unknown): void {
    this.#view.print([this.#view.style.red(escapeInvisible(errorMessage(error)))]);
  }

  /** The text is sent unchanged: its mentions are not attached, since the user did not write it. */
  async #answerNotice({ source, text }: WakeNotice): Promise<void> {
    const shown = `⏰ ${escapeToLine(source)}: ${escapeToLine(text.split("\n", 1)[0] ?? "")}`;
    const turn = new AbortController();
    this.#turn = turn;
    this.#view.print([shown]);
    await this.#exchange(text, { text, shown, from: source }, turn);
  }

  async #answer(message: Message): Promise<void> {
    // Start the turn before files are read: input typed meanwhile must queue after this message.
    const turn = new AbortController();
    this.#turn = turn;
    if (message.made === undefined) this.#view.echo(message.shown);
    const composed = await this.#compose(message, turn.signal);
    if (composed) await this.#exchange(composed.content, { ...message, notes: composed.notes }, turn);
    else {
      this.#turn = undefined;
      this.#afterTurn();
    }
  }

  async #exchange(content: Content, message: Message, turn: AbortController): Promise<void> {
    if (!this.#running) return;
    const { agent, options } = this.#running;
    options.turns?.begin(message.shown);
    this.#view.turnStarted();
    const startedAt = performance.now();
    this.#startedAt = startedAt;
    this.#showTitle();
    const { problem, hasFailed } = await exchange(
      agent,
      content,
      turn.signal,
      (event) => this.#see(event),
      message.from,
    );
    await this.#shellLines.settled();
    this.#storing = options.turns?.end();
    await this.#storing;
    this.#storing = undefined;
    this.#log.endTurn();
    const undelivered = this.#queue.takeSteering();
    agent.takeSteering();
    this.#turn = undefined;
    this.#startedAt = undefined;
    this.#view.turnEnded(problem === STOPPED && this.#exitCode !== undefined ? "Interrupted." : problem);
    this.#updateStatus();
    const back =
      hasFailed && takeBackUnanswered(agent.conversation) && message.from === undefined
        ? [message, ...undelivered]
        : undelivered;
    this.#composer.putBack(back.flatMap(({ notes = [] }) => notes));
    if (problem === undefined) this.#queue.putFirst(back);
    else if (back.length > 0) this.#view.giveBack(back.map(({ shown }) => shown).join("\n"));
    this.#notify(startedAt, problem === undefined ? "done" : "stopped");
    this.#afterTurn();
  }

  #afterTurn(): void {
    if (this.#exitCode === undefined) this.#next();
    else this.#finish(this.#exitCode);
  }

  /** The result of a call of a disabled tool, with how to enable it. Only the user reads that line. */
  #withHint(event: AgentEvent): AgentEvent {
    if (event.type !== "tool_end" || event.outcome !== "not_available") return event;
    // A longer text names another reason, such as a tool that replaces this one.
    if (event.text !== `Tool not available: ${event.name}`) return event;
    const isPlan = this.#running?.permissions.mode === "plan";
    const hint = isPlan
      ? "It is off in plan mode. Shift+Tab leaves plan mode."
      : `Turn it on: /enable ${event.name}`;
    return { ...event, text: `${event.text}\n${hint}` };
  }

  #see(event: AgentEvent): void {
    this.#log.event(event);
    if (event.type === "steered") {
      const message = this.#queue.delivered();
      if (message && message.made === undefined) this.#view.echo(message.shown);
      this.#showWaiting();
    }
    this.#view.event(this.#withHint(event));
    this.#usage.see(event);
    if (event.type === "usage" || event.type === "tool_end") this.#updateStatus();
  }

  #updateStatus(): void {
    if (!this.#running) return;
    const { agent, permissions, options } = this.#running;
    const { size, tokens, cost, costIsEstimate } = this.#usage;
    const contextTokens = options.contextTokens?.();
    // The branch is read from a file; calls can end many times a second.
    if (!this.busy) this.#branch = options.branch?.();
    const status: Status = {
      mode: permissions.mode,
      model: options.model?.() ?? "",
      effort: agent.effort,
      directory: process.cwd(),
      tokens,
      jobs: runningJobs(agent.registry.services.jobs).length,
      branch: this.#branch,
      session: options.sessionName?.(),
      ...(size > 0 && { contextSize: size }),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(cost !== undefined && { cost, costIsEstimate }),
    };
    this.#status = status;
    this.#showStatus();
    if (options.statusText) void this.#makeStatusText(options.statusText);
  }

  #showStatus(): void {
    this.#showTitle();
    const { statusParts: parts } = this.#running?.options ?? {};
    if (this.#status) this.#view.status(this.#status, { ...(parts && { parts }), text: this.#statusText });
  }

  /** Recomputes the status text while the status changes, with a pause in between. */
  async #makeStatusText(make: NonNullable<ChatOptions["statusText"]>): Promise<void> {
    if (this.#isMakingText) return;
    this.#isMakingText = true;
    for (let made: Status | undefined; made !== this.#status; ) {
      made = this.#status;
      this.#statusText = made && (await make(made).catch(() => undefined));
      this.#showStatus();
      // The timer must not keep the process alive after the chat.
      await new Promise((resolve) => setTimeout(resolve, STATUS_TEXT_MS).unref());
    }
    this.#isMakingText = false;
  }
}

/** The shell lines that the user runs with `!`, alone or during an answer. */
class ShellLines {
  readonly #emit: (event: AgentEvent) => void;
  readonly #running = new Set<Promise<string>>();
  #count = 0;

  constructor(emit: (event: AgentEvent) => void) {
    this.#emit = emit;
  }

  /** Resolves to a note for the model. */
  async run(command: string, signal: AbortSignal): Promise<string> {
    const line = this.#run(command, signal);
    this.#running.add(line);
    return await line.finally(() => this.#running.delete(line));
  }

  /** Resolves when no line is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #run(command: string, signal: AbortSignal): Promise<string> {
    // Loaded with the first line, so that the first prompt appears without it.
    const { runShellLine } = await import("./shellLine.js");
    return await runShellLine(command, this.#emit, signal, `shell-${++this.#count}`);
  }
}

/** How a turn ended. */
interface ExchangeEnd {
  /** Why there is no answer, as displayable text; absent if there is one. */
  readonly problem: string | undefined;
  /** Whether it ended because of a failure, and not because the user interrupted it. */
  readonly hasFailed: boolean;
}

/** Sends a message and reports every event, including those of tools that finish after the answer was interrupted. */
async function exchange(
  agent: Agent,
  content: Content,
  signal: AbortSignal,
  see: (event: AgentEvent) => void,
  from?: string,
): Promise<ExchangeEnd> {
  try {
    for await (const event of agent.streamChat(content, { signal, ...(from !== undefined && { from }) }))
      see(event);
    return { problem: undefined, hasFailed: false };
  } catch (error) {
    // Interrupted tools return their own results.
    for (const event of await agent.settled()) see(event);
    return signal.aborted
      ? { problem: STOPPED, hasFailed: false }
      : { problem: escapeInvisible(errorMessage(error)), hasFailed: true };
  }
}

/** Moves the newest running command to the background. Resolves to a message for the user. */
async function moveToBackground(log: CallLog, jobs: BackgroundJobs | undefined): Promise<string> {
  const call = log.running.findLast(({ pid }) => pid !== undefined);
  const moved = call?.pid !== undefined && (await jobs?.detachProcess?.(call.pid));
  return moved
    ? `#${call.number} ${escapeToLine(call.name)} continues in the background. /status lists it.`
    : "No running command can be moved to the background.";
}
