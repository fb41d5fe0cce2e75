import type { ReadStream, WriteStream } from "node:tty";
import { CHAT_EXITS, type ChatExit, ENDING_SIGNALS, onEndingSignals } from "../system/signals.js";
import { refreshSize, terminalSize } from "./terminalKind.js";

const ENTER = "\x1b[?2004h";
// Resets all modes that a partial frame may leave: bracketed paste, hidden cursor, synchronized output, style.
const LEAVE = "\x1b[?2004l\x1b[?2026l\x1b[?25h\x1b[0m";

export interface TerminalEvents {
  readonly input: (chunk: Buffer) => void;
  readonly resize: () => void;
  /** Called when the chat must end: a signal arrived, or the terminal was closed. */
  readonly hangUp: (code: ChatExit) => void;
  /** Called before the terminal is restored: erase the drawn rows. */
  readonly leaving: () => void;
  /** Called when the stopped process continues: draw again. */
  readonly resumed: () => void;
}

/** The terminal in raw mode. It is restored however the process exits, except by SIGKILL. */
export class Terminal {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #events: TerminalEvents;
  #entered = false;
  #closed = false;
  #isLent = false;
  #stopWatching: () => void = () => undefined;

  constructor(input: ReadStream, output: WriteStream, events: TerminalEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
  }

  get columns(): number {
    return terminalSize(this.#output).columns;
  }

  get rows(): number {
    return terminalSize(this.#output).rows;
  }

  /** Its colour depth in bits. */
  get colorDepth(): number {
    return this.#output.getColorDepth();
  }

  readonly write = (text: string): void => {
    this.#output.write(text);
  };

  refreshSize(): void {
    refreshSize(this.#output);
  }

  open(): void {
    const { input, resize, hangUp } = this.#events;
    this.#input.on("data", input);
    this.#input.on("end", this.#gone);
    this.#input.on("error", this.#gone);
    this.#output.on("error", this.#gone);
    this.#output.on("resize", resize);
    this.#stopWatching = onEndingSignals(ENDING_SIGNALS, hangUp);
    process.on("SIGCONT", this.#resume);
    process.on("exit", this.#leave);
    // Restore the terminal before Node prints the error: in raw mode it would not be readable.
    process.on("uncaughtExceptionMonitor", this.#leave);
    this.#enter();
    this.#input.resume();
  }

  close(): void {
    const { input, resize } = this.#events;
    this.#closed = true;
    this.#leave();
    this.#input.off("data", input);
    this.#input.off("end", this.#gone);
    this.#output.off("resize", resize);
    this.#stopWatching();
    process.off("SIGCONT", this.#resume);
    process.off("exit", this.#leave);
    process.off("uncaughtExceptionMonitor", this.#leave);
    // Keep the error listeners: a closed terminal may still emit errors.
    this.#input.pause();
  }

  /** Suspends the process like Ctrl-Z; the shell takes over until the user continues it. */
  suspend(): void {
    this.#leave();
    // Stop the whole process group, so that a wrapper such as npx stops too and the shell takes over.
    process.kill(0, "SIGTSTP");
    // Without a shell the signal has no effect, and no SIGCONT will come.
    setImmediate(this.#resume);
  }

  /** Leaves the terminal to another program while `work` runs. Rejects like `work`. */
  async suspendDuring<T>(work: () => Promise<T>): Promise<T> {
    const { input } = this.#events;
    this.#leave();
    this.#isLent = true;
    this.#input.off("data", input);
    this.#input.pause();
    try {
      return await work();
    } finally {
      this.#isLent = false;
      if (!this.#closed) {
        this.#input.on("data", input);
        this.#input.resume();
        this.#resume();
      }
    }
  }

  #enter(): void {
    this.#entered = true;
    this.#input.setRawMode(true);
    this.write(ENTER);
  }

  readonly #gone = (): void => this.#events.hangUp(CHAT_EXITS.hungUp);

  readonly #leave = (): void => {
    if (!this.#entered) return;
    this.#entered = false;
    try {
      this.#events.leaving();
      this.write(LEAVE);
      this.#input.setRawMode(false);
    } catch {
      // The terminal is closed; there is nothing to restore.
    }
  };

  readonly #resume = (): void => {
    // A program that has the terminal can be suspended and continued, and this process with it.
    if (this.#entered || this.#isLent) return;
    this.#enter();
    this.#events.resumed();
  };
}
