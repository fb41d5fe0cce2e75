import type { Agent } from "@agent/core";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { CallLog } from "./callLog.js";
import {
  type CommandContext,
  completeSlashCommand,
  isSlashCommand,
  runSlashCommand,
} from "./slashCommands.js";
import type { ChatSettings } from "./types.js";
import type { ChatView } from "./view.js";

const STOPPED = "Stopped. The conversation goes on from here.";

/**
 * One conversation between a person and an agent: takes what the person sends, one message at a time, and
 * tells the view what comes of it. Messages sent while one is answered wait for their turn.
 */
export class ChatController {
  readonly finished: Promise<ExitCode>;
  readonly #view: ChatView;
  readonly #log = new CallLog();
  #agent: Agent | undefined;
  #commands: CommandContext | undefined;
  /** What was sent before there was anybody to answer it. */
  #early: string[] = [];
  #finish: (code: ExitCode) => void = () => undefined;
  #queue: string[] = [];
  #turn: AbortController | undefined;
  #exitCode: ExitCode | undefined;

  constructor(view: ChatView) {
    this.#view = view;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Now there is somebody to answer: what was sent earlier comes first. */
  start(agent: Agent, settings: ChatSettings): void {
    this.#agent = agent;
    this.#commands = {
      agent,
      settings,
      log: this.#log,
      columns: () => this.#view.columns,
      keys: this.#view.keys,
      busy: () => this.busy,
      stopTurn: () => this.stopTurn(),
      quit: () => this.quit(EXIT.done),
      model: { name: settings.model },
      switched: new Map(),
    };
    const early = this.#early.splice(0);
    if (early.length > 0) this.#view.queued([]);
    for (const input of early) this.submit(input);
  }

  get busy(): boolean {
    return this.#turn !== undefined;
  }

  /** Whether the answer was told to stop and has not ended yet. */
  get stopping(): boolean {
    return this.#turn?.signal.aborted ?? false;
  }

  /** Takes one input: a command runs at once, a message now or when its turn comes. */
  submit(input: string): void {
    if (this.#exitCode !== undefined) return;
    if (!this.#agent) {
      if (input.trim() !== "") this.#early.push(input);
      this.#view.queued(this.#early);
      return;
    }
    if (isSlashCommand(input)) {
      void this.#command(input);
      return;
    }
    if (input.trim() === "") {
      this.#view.idle();
      return;
    }
    this.#queue.push(input);
    this.#next();
  }

  complete(before: readonly string[]): readonly string[] | undefined {
    return this.#commands && completeSlashCommand(before, this.#commands);
  }

  /** Ends the answer that is being written; what waits behind it goes back to the person. */
  stopTurn(): void {
    if (!this.#turn) return;
    this.#turn.abort();
    const waiting = this.#queue.splice(0);
    this.#view.queued([]);
    if (waiting.length > 0) this.#view.giveBack(waiting.join("\n"));
  }

  /** Ends the chat, after the answer that is being written was stopped. */
  quit(code: ExitCode): void {
    this.#exitCode ??= code;
    this.#queue = [];
    if (this.#turn) this.#turn.abort();
    else this.#finish(this.#exitCode);
  }

  async #command(input: string): Promise<void> {
    if (!this.#commands) return;
    this.#view.echo(input);
    const lines = await runSlashCommand(input, this.#commands);
    if (lines.length > 0) this.#view.print(lines);
    if (!this.busy && this.#exitCode === undefined) this.#view.idle();
  }

  #next(): void {
    if (this.#turn) {
      this.#view.queued(this.#queue);
      return;
    }
    const message = this.#queue.shift();
    if (message === undefined) {
      this.#view.idle();
      return;
    }
    this.#view.queued(this.#queue);
    void this.#answer(message);
  }

  async #answer(message: string): Promise<void> {
    if (!this.#agent) return;
    const turn = new AbortController();
    this.#turn = turn;
    this.#view.echo(message);
    this.#view.turnStarted();
    let problem: string | undefined;
    try {
      for await (const event of this.#agent.streamChat(message, { signal: turn.signal })) {
        this.#log.event(event);
        this.#view.event(event);
      }
    } catch (error) {
      problem = turn.signal.aborted ? STOPPED : escapeInvisible(errorMessage(error));
      // Tools that were told to stop return their own results after the answer was given up.
      for (const event of await this.#agent.settled()) {
        this.#log.event(event);
        this.#view.event(event);
      }
    }
    this.#log.endTurn();
    this.#turn = undefined;
    this.#view.turnEnded(problem);
    if (problem !== undefined && problem !== STOPPED && this.#takeBack()) this.#view.giveBack(message);
    if (this.#exitCode === undefined) this.#next();
    else this.#finish(this.#exitCode);
  }

  /** Takes a message that nothing came of out of the conversation, so that sending it again sends it once. */
  #takeBack(): boolean {
    const conversation = this.#agent?.conversation;
    const last = conversation?.sessionContext.length ?? 0;
    if (conversation?.sessionContext[last - 1]?.role !== "user") return false;
    conversation.replace(last - 1, 1, []);
    return true;
  }
}
