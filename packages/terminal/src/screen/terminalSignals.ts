import { escapeToLine } from "@agent/internal";

/** How the user is notified: by the bell, or by a message of the terminal. */
export type NotifyBy = "bell" | "osc9" | "osc777";

const BELL = "\x07";
// Ends an escape code. The bell would work too, but terminals that do not support the code would ring it.
const END = "\x1b\\";
// In characters.
const LONGEST_TEXT = 200;
// Terminals refuse or truncate a longer one.
const MOST_COPIED_BYTES = 74_994;
const PUSH_TITLE = "\x1b[22;2t";
const POP_TITLE = "\x1b[23;2t";

/** Escape codes for the terminal besides text: its title, progress, a notification, the clipboard. */
export class TerminalSignals {
  readonly #write: (text: string) => void;
  #title: string | undefined;
  #isWorking = false;
  /** Whether another program has the terminal: then title and progress are kept until it returns. */
  #isLeft = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Sets the window title. The previous one is restored when the chat ends. */
  title(text: string): void {
    const title = plain(text);
    if (title === this.#title) return;
    const isFirst = this.#title === undefined;
    this.#title = title;
    if (this.#isLeft) return;
    if (isFirst) this.#write(PUSH_TITLE);
    this.#write(titleCode(title));
  }

  /** Shows in the task bar or tab that work of unknown length is running, or that it ended. */
  progress(isWorking: boolean): void {
    if (isWorking === this.#isWorking) return;
    this.#isWorking = isWorking;
    if (!this.#isLeft) this.#write(progressCode(isWorking));
  }

  notify(text: string, by: NotifyBy): void {
    // The text begins with a word: OSC 9 with a number is a command in some terminals.
    const message = plain(`agent: ${text}`);
    if (by === "osc9") this.#write(`\x1b]9;${message}${END}`);
    else if (by === "osc777") this.#write(`\x1b]777;notify;agent;${message.replaceAll(";", ",")}${END}`);
    else this.#write(BELL);
  }

  /** Copies a text to the clipboard, if the terminal allows it. Returns whether it is short enough. */
  copy(text: string): boolean {
    const bytes = Buffer.from(text);
    if (bytes.length > MOST_COPIED_BYTES) return false;
    this.#write(`\x1b]52;c;${bytes.toString("base64")}${END}`);
    return true;
  }

  /** Restores the terminal before another program uses it. */
  leave(): void {
    this.#isLeft = true;
    if (this.#title !== undefined) this.#write(POP_TITLE);
    if (this.#isWorking) this.#write(progressCode(false));
  }

  /** Called when the terminal is available again. */
  resume(): void {
    this.#isLeft = false;
    if (this.#title !== undefined) this.#write(`${PUSH_TITLE}${titleCode(this.#title)}`);
    if (this.#isWorking) this.#write(progressCode(true));
  }
}

function titleCode(title: string): string {
  return `\x1b]2;${title}${END}`;
}

function progressCode(isWorking: boolean): string {
  return `\x1b]9;4;${isWorking ? 3 : 0}${END}`;
}

function plain(text: string): string {
  return escapeToLine(text).slice(0, LONGEST_TEXT).toWellFormed();
}

/** Whether the terminal shows progress. In some others the same code is a notification. */
export function showsProgress(env: NodeJS.ProcessEnv = process.env): boolean {
  // In tmux and screen the code does not reach the terminal.
  if (env.TMUX || env.STY) return false;
  return env.WT_SESSION !== undefined || env.ConEmuANSI === "ON" || env.TERM_PROGRAM === "ghostty";
}

/** How the terminal shows notifications: by a message if that is known to work, else by the bell. */
export function notifiesBy(env: NodeJS.ProcessEnv = process.env): NotifyBy {
  if (env.TMUX || env.STY) return "bell";
  if (["iTerm.app", "WezTerm", "ghostty"].includes(env.TERM_PROGRAM ?? "")) return "osc9";
  return /^(rxvt-unicode|foot)/.test(env.TERM ?? "") ? "osc777" : "bell";
}
