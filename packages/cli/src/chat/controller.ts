import type { Agent, AgentEvent, Content, MentionSource } from "@agent/core";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { MODE_HELP, MODE_NAMES, PLAN_NOTE } from "../permissions/mode.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { CallLog } from "./callLog.js";
import type { CommandContext } from "./commands/context.js";
import { currentStatus } from "./currentStatus.js";
import type { MenuItem } from "./menu.js";
import { type Message, MessageQueue } from "./messageQueue.js";
import { moveToBackground } from "./moveToBackground.js";
import { composeMessage, takeBackUnanswered, withNotes } from "./outgoing.js";
import type { ChatSettings, ReadyChat, SlashCommands } from "./types.js";
import { UsageMeter } from "./usageMeter.js";
import type { ChatView } from "./view.js";

const STOPPED = "Stopped. The conversation goes on from here.";

/** The parts of a chat that exist once the agent is loaded. */
interface Running {
  readonly agent: Agent;
  readonly settings: ChatSettings;
  readonly commands: CommandContext;
  readonly slash: SlashCommands;
}

/**
 * One conversation between a person and an agent: takes the person's input and reports to the view what happens. A
 * message that is sent while another is answered steers that answer, or waits for its turn.
 */
export class ChatController {
  readonly finished: Promise<ExitCode>;
  readonly #view: ChatView;
  readonly #log = new CallLog();
  readonly #usage = new UsageMeter();
  #running: Running | undefined;
  /** Messages sent before the agent was loaded. */
  #early: Message[] = [];
  #finish: (code: ExitCode) => void = () => undefined;
  readonly #queue = new MessageQueue();
  /** Notes for the model in the next message: commands the person ran, changes that were undone. */
  #happened: string[] = [];
  #turn: AbortController | undefined;
  #shellLines = 0;
  #exitCode: ExitCode | undefined;

  constructor(view: ChatView) {
    this.#view = view;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** The agent is loaded: sends the waiting messages first. */
  start({ agent, settings, slash }: Pick<ReadyChat, "agent" | "settings" | "slash">): void {
    const commands: CommandContext = {
      agent,
      settings,
      log: this.#log,
      view: this.#view,
      usage: this.#usage,
      busy: () => this.busy,
      stopTurn: () => this.stopTurn(),
      quit: () => this.quit(EXIT.done),
      tellModel: (text) => this.#happened.push(text),
      send: (content, shown) => this.#send({ text: shown, shown, made: content }),
      work: (doing, run) => this.#work(doing, run),
      updateStatus: () => this.#updateStatus(),
      model: { name: settings.model },
      switched: new Map(),
    };
    this.#running = { agent, settings, commands, slash };
    this.#updateStatus();
    const early = this.#early.splice(0);
    if (early.length > 0) this.#view.queued([]);
    for (const { text, shown } of early) this.submit(text, shown);
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** Whether the answer was told to stop and has not ended yet. */
  get stopping(): boolean {
    return this.#turn?.signal.aborted ?? false;
  }

  /** Takes one input: a command runs at once, a message now or when its turn comes. */
  submit(text: string, shown = text): void {
    if (this.#exitCode !== undefined) return;
    if (!this.#running) {
      if (text.trim() !== "") this.#early.push({ text, shown });
      this.#view.queued(this.#early.map((message) => message.shown));
      return;
    }
    const { slash, commands } = this.#running;
    if (slash.isSlashCommand(text, commands)) void this.#command(text);
    else if (/^!\s*\S/.test(text)) void this.#shellLine(text.slice(1).trim());
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

  /** What packs let a person mention, for the list that opens after an @. */
  mentionSources(): readonly MentionSource[] {
    return this.#running?.agent.registry.services.mentions ?? [];
  }

  cycleMode(): void {
    if (!this.#running) return;
    const mode = this.#running.settings.permissions.cycle();
    this.#view.print([`Mode: ${MODE_NAMES[mode]} – ${MODE_HELP[mode]}.`]);
    this.#updateStatus();
  }

  /** Lets the newest running command go on in the background; the answer goes on without waiting for it. */
  async moveToBackground(): Promise<void> {
    this.#view.print([await moveToBackground(this.#log, this.#running?.settings.jobs)]);
  }

  /** Stops the answer that is being written; waiting messages go back to the person's line. */
  stopTurn(): void {
    if (!this.#turn) return;
    this.#turn.abort();
    const waiting = this.#queue.takeWaiting().map(({ text }) => text);
    this.#view.queued([]);
    if (waiting.length > 0) this.#view.giveBack(waiting.join("\n"));
  }

  /** Stops the answer that is being written and ends the chat. */
  quit(code: ExitCode): void {
    this.#exitCode ??= code;
    this.#queue.takeWaiting();
    if (this.#turn) this.#turn.abort();
    else this.#finish(this.#exitCode);
  }

  async #command(input: string): Promise<void> {
    if (!this.#running) return;
    this.#view.echo(input);
    const lines = await this.#running.slash.runSlashCommand(input, this.#running.commands);
    if (lines.length > 0) this.#view.print(lines);
    this.#updateStatus();
    if (!this.busy) this.#afterTurn();
  }

  async #work<T>(doing: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const turn = new AbortController();
    this.#turn = turn;
    this.#view.turnStarted(doing);
    try {
      return await run(turn.signal);
    } finally {
      this.#turn = undefined;
      this.#view.turnEnded(undefined);
    }
  }

  async #shellLine(command: string): Promise<void> {
    const turn = this.busy ? undefined : new AbortController();
    if (turn) {
      this.#turn = turn;
      this.#view.turnStarted();
    }
    this.#view.echo(`!${command}`);
    const signal = turn?.signal ?? new AbortController().signal;
    const id = `shell-${++this.#shellLines}`;
    const { runShellLine } = await import("./shellLine.js");
    this.#happened.push(await runShellLine(command, (event) => this.#see(event), signal, id));
    if (!turn) return;
    this.#turn = undefined;
    this.#view.turnEnded(undefined);
    this.#afterTurn();
  }

  /** Steers the running turn, or starts one with the message. */
  #send(message: Message): void {
    if (this.busy && !this.stopping) void this.#steer(message);
    else {
      this.#queue.add(message);
      this.#next();
    }
  }

  /** Gives a message to the running turn. If that ends first, the message gets a turn of its own. */
  async #steer(message: Message): Promise<void> {
    const notes = [...this.#happened];
    const content = await this.#compose(message, notes);
    if (content === undefined || !this.#running) return;
    if (this.#running.agent.steer(content)) {
      this.#happened = this.#happened.filter((note) => !notes.includes(note));
      this.#queue.addSteering({ ...message, notes });
    } else this.#queue.add(message);
    this.#showWaiting();
    if (!this.busy) this.#next();
  }

  #showWaiting(): void {
    this.#view.queued(this.#queue.shown);
  }

  #next(): void {
    const message = this.#turn ? undefined : this.#queue.next();
    this.#showWaiting();
    if (message) void this.#answer(message);
    else if (!this.#turn) this.#view.idle();
  }

  /**
   * The message with what it mentions. If that cannot be attached: `undefined`, and the message goes back on the line.
   */
  async #compose(
    { text, shown, made }: Message,
    notes: readonly string[],
    signal?: AbortSignal,
  ): Promise<Content | undefined> {
    const planning = this.#running?.settings.permissions.mode === "plan" ? [PLAN_NOTE] : [];
    const happened = [...notes, ...planning];
    if (made !== undefined) return withNotes(made, happened);
    try {
      const place = { cwd: process.cwd(), sources: this.mentionSources(), signal };
      const outgoing = await composeMessage(text, place, happened);
      const attached = outgoing.notes.map(escapeToLine).join(", ");
      if (attached !== "") this.#view.print([`  attached: ${attached}`]);
      return outgoing.content;
    } catch (error) {
      this.#view.print([this.#view.style.red(escapeInvisible(errorMessage(error)))]);
      this.#view.giveBack(shown);
      return undefined;
    }
  }

  async #answer(message: Message): Promise<void> {
    // Start the turn before files are read: what is typed meanwhile must wait behind this message.
    const turn = new AbortController();
    this.#turn = turn;
    if (message.made === undefined) this.#view.echo(message.shown);
    const notes = [...this.#happened];
    const content = await this.#compose(message, notes, turn.signal);
    if (content === undefined) {
      this.#turn = undefined;
      this.#afterTurn();
      return;
    }
    this.#happened = this.#happened.filter((note) => !notes.includes(note));
    await this.#exchange(content, message, turn);
  }

  async #exchange(content: Content, message: Message, turn: AbortController): Promise<void> {
    if (!this.#running) return;
    const { agent, settings } = this.#running;
    const undo = settings.undo?.();
    undo?.beginTurn(message.shown);
    this.#view.turnStarted();
    const startedAt = performance.now();
    let problem: string | undefined;
    try {
      for await (const event of agent.streamChat(content, { signal: turn.signal })) this.#see(event);
    } catch (error) {
      problem = turn.signal.aborted ? STOPPED : escapeInvisible(errorMessage(error));
      // Tools that were told to stop return their own results after the answer was given up.
      for (const event of await agent.settled()) this.#see(event);
    }
    await undo?.endTurn();
    this.#log.endTurn();
    const undelivered = this.#queue.takeSteering();
    agent.takeSteering();
    this.#turn = undefined;
    this.#view.turnEnded(problem);
    this.#updateStatus();
    this.#happened.unshift(...undelivered.flatMap(({ notes = [] }) => notes));
    if (problem === undefined) this.#queue.putFirst(undelivered);
    else {
      const unanswered = problem !== STOPPED && takeBackUnanswered(agent.conversation) ? [message] : [];
      const back = [...unanswered, ...undelivered].map(({ text }) => text);
      if (back.length > 0) this.#view.giveBack(back.join("\n"));
    }
    if (settings.notifyAfterMs !== undefined && performance.now() - startedAt >= settings.notifyAfterMs) {
      this.#view.notify();
    }
    this.#afterTurn();
  }

  #afterTurn(): void {
    if (this.#exitCode === undefined) this.#next();
    else this.#finish(this.#exitCode);
  }

  #see(event: AgentEvent): void {
    this.#log.event(event);
    if (event.type === "steered") {
      const message = this.#queue.delivered();
      if (message && message.made === undefined) this.#view.echo(message.shown);
      this.#showWaiting();
    }
    this.#view.event(event);
    this.#usage.see(event);
    if (event.type === "usage" || event.type === "tool_end") this.#updateStatus();
  }

  #updateStatus(): void {
    if (this.#running) this.#view.status(currentStatus(this.#running, this.#usage));
  }
}
