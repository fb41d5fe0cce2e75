import { StringDecoder } from "node:string_decoder";

/** One input event: typed text, a paste, or a key by its name (`ctrl-a`, `alt-b`, `up`). */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** The terminal's answer to a query of the chat. */
  | { readonly type: "report"; readonly text: string }
  | { readonly type: "key"; readonly name: string };

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
const LONGEST_SEQUENCE = 64;
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what a keyboard sends
const SEQUENCE = /^\x1b\[[0-?]*[ -/]*[@-~]/;
const UNFINISHED_SEQUENCE = /^\x1b(\[[0-?]*[ -/]*|O|\][^\x07]{0,60})?$/;
const REPORT = /^\x1b\](.*?)(?:\x07|\x1b\\)/s;
// The start of the only answer that is requested: the rest may arrive late.
const STARTED_REPORT = /^\x1b\]11;[^\x07]*$/;
const TEXT = /^[^\x00-\x1f\x7f]+/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above

const CONTROL_NAMES: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "newline",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1f": "undo",
};

const SEQUENCE_NAMES: Readonly<Record<string, string>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[7~": "home",
  "[4~": "end",
  "[8~": "end",
  "[3~": "delete",
  "[1;3D": "alt-b",
  "[1;5D": "alt-b",
  "[1;3C": "alt-f",
  "[1;5C": "alt-f",
  "[Z": "shift-tab",
  OP: "f1",
  OQ: "f2",
  OR: "f3",
  OS: "f4",
  "[11~": "f1",
  "[12~": "f2",
  "[13~": "f3",
  "[14~": "f4",
  "[15~": "f5",
  "[17~": "f6",
  "[18~": "f7",
  "[19~": "f8",
  "[20~": "f9",
  "[21~": "f10",
  "[23~": "f11",
  "[24~": "f12",
  "[13;2u": "newline",
  "[13;3u": "newline",
  "[27;2;13~": "newline",
};

/** Parses terminal input into keys. Incomplete characters, sequences and pastes wait for the rest. */
export class KeyDecoder {
  readonly #utf8 = new StringDecoder("utf8");
  #waiting = "";
  #paste: string | undefined;

  /** Whether an escape character is pending: it is a key by itself if nothing follows soon. */
  get pending(): boolean {
    return this.#paste === undefined && this.#waiting !== "";
  }

  write(chunk: Buffer | string): Key[] {
    this.#waiting += typeof chunk === "string" ? chunk : this.#utf8.write(chunk);
    const keys: Key[] = [];
    while (this.#waiting !== "") {
      const key = this.#paste === undefined ? this.#next() : this.#endOfPaste();
      if (key === "incomplete") break;
      if (key) keys.push(key);
    }
    return keys;
  }

  /** Treats pending input as complete: an escape character becomes the escape key. */
  flush(): Key[] {
    if (!this.pending || STARTED_REPORT.test(this.#waiting)) return [];
    const isBracket = this.#waiting.startsWith("\x1b]");
    this.#waiting = "";
    return [named(isBracket ? "alt-]" : "escape")];
  }

  #next(): Key | undefined | "incomplete" {
    const input = this.#waiting;
    if (input.startsWith(PASTE_START)) {
      this.#take(PASTE_START.length);
      this.#paste = "";
      return undefined;
    }
    if (input.startsWith("\x1b")) return this.#escape(input);
    const text = TEXT.exec(input)?.[0];
    if (text !== undefined) return { type: "text", text: this.#take(text.length) };
    const control = this.#take(1);
    const letter = String.fromCharCode(control.charCodeAt(0) + 96);
    return named(CONTROL_NAMES[control] ?? `ctrl-${letter}`);
  }

  #escape(input: string): Key | undefined | "incomplete" {
    const report = REPORT.exec(input);
    if (report && report[0].length <= LONGEST_SEQUENCE) {
      this.#take(report[0].length);
      return { type: "report", text: report[1] ?? "" };
    }
    if (UNFINISHED_SEQUENCE.test(input) && input.length < LONGEST_SEQUENCE) return "incomplete";
    const sequence = input.startsWith("\x1bO") ? input.slice(0, 3) : SEQUENCE.exec(input)?.[0];
    if (sequence !== undefined) {
      this.#take(sequence.length);
      const name = SEQUENCE_NAMES[sequence.slice(1)];
      return name === undefined ? undefined : named(name);
    }
    this.#take(1);
    if (input.startsWith("\x1b\x1b")) return named("escape");
    const character = this.#take(1);
    if (character === "\r" || character === "\n") return named("newline");
    return named(`alt-${CONTROL_NAMES[character] ?? character}`);
  }

  #endOfPaste(): Key | undefined | "incomplete" {
    const end = this.#waiting.indexOf(PASTE_END);
    if (end === -1) {
      // Keep a possible start of the end marker, so that a large paste is scanned once.
      const keep = Math.min(this.#waiting.length, PASTE_END.length - 1);
      this.#paste += this.#take(this.#waiting.length - keep);
      return "incomplete";
    }
    const text = this.#paste + this.#take(end);
    this.#take(PASTE_END.length);
    this.#paste = undefined;
    return { type: "paste", text: text.replace(/\r\n?/g, "\n") };
  }

  #take(length: number): string {
    const taken = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    return taken;
  }
}

function named(name: string): Key {
  return { type: "key", name };
}
