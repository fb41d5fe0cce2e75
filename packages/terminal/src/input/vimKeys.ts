import { graphemes } from "../text/width.js";
import type { LineEditor } from "./editor.js";
import type { Key } from "./keys.js";

const WORD = "[\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}_\\s]+";
const NEXT_START = new RegExp(`^(?:${WORD})?\\s*`, "u");
const NEXT_END = new RegExp(`^\\s*(?:${WORD})?`, "u");
const LAST_START = new RegExp(`(?:${WORD})?\\s*$`, "u");
// A motion looks no further than this in a very long text.
const REACH = 2000;

/** vi keys for the input line: insert mode as usual, and after Esc a normal mode. */
export class VimKeys {
  readonly #editor: LineEditor;
  #isNormal = false;
  /** The partial command: a count, an operator. */
  #typed = "";
  /** The last deleted or copied text. */
  #register = "";

  constructor(editor: LineEditor) {
    this.#editor = editor;
  }

  get isNormal(): boolean {
    return this.#isNormal;
  }

  /** Returns to insert mode, for a new line. */
  reset(): void {
    this.#isNormal = false;
    this.#typed = "";
  }

  /** Handles a key and returns what is left for the chat: often the key itself, or nothing. */
  press(key: Key): Key[] {
    const isEscape = key.type === "key" && key.name === "escape";
    if (!this.#isNormal) {
      if (!isEscape) return [key];
      this.#isNormal = true;
      this.#stayOnText();
      return this.#editor.text === "" ? [key] : [];
    }
    if (isEscape) {
      const hadTyped = this.#typed !== "";
      this.#typed = "";
      return hadTyped ? [] : [key];
    }
    if (key.type === "key") return [key.name === "backspace" ? { type: "key", name: "left" } : key];
    if (key.type === "paste") return [key];
    return [...key.text].flatMap((character) => {
      // A command such as `i` ends normal mode: the rest of the same chunk is text.
      if (!this.#isNormal) return [{ type: "text", text: character } as const];
      return this.#type(character);
    });
  }

  #type(character: string): Key[] {
    this.#typed += character;
    const [, digits = "", operator = "", rest = ""] =
      /^([1-9]\d*)?([dcy]|r|f)?(.*)$/su.exec(this.#typed) ?? [];
    if (rest === "") return [];
    this.#typed = "";
    const count = Math.min(Number(digits || 1), 999);
    if (operator === "r") this.#replaceCharacter(rest);
    else if (operator === "f") this.#find(rest);
    else if (operator !== "") this.#operate(operator, rest, count);
    else return this.#command(rest, count);
    this.#stayOnText();
    return [];
  }

  #command(name: string, count: number): Key[] {
    const editor = this.#editor;
    const insert = (before?: () => void): Key[] => {
      before?.();
      this.reset();
      return [];
    };
    switch (name) {
      case "i":
        return insert();
      case "a":
        return insert(() => this.#isAtEnd || editor.move("right"));
      case "I":
        return insert(() => editor.move("home"));
      case "A":
        return insert(() => editor.move("end"));
      case "o":
        return insert(() => {
          editor.move("end");
          editor.insert("\n");
        });
      case "O":
        return insert(() => {
          editor.move("home");
          editor.insert("\n");
          editor.move("left");
        });
      case "s":
        return insert(() => this.#delete(editor.cursor, this.#placeOf("l", count) ?? editor.cursor));
      case "S":
        return insert(() => this.#operate("c", "c", 1));
      case "C":
        return insert(() => this.#operate("d", "$", 1));
      case "D":
        this.#operate("d", "$", 1);
        break;
      case "x":
        this.#operate("d", "l", count);
        break;
      case "X":
        this.#operate("d", "h", count);
        break;
      case "p":
        if (!this.#isAtEnd) editor.move("right");
        editor.insert(this.#register.repeat(count));
        break;
      case "P":
        editor.insert(this.#register.repeat(count));
        break;
      case "u":
        for (let time = 0; time < count; time++) editor.undo();
        break;
      case "j":
      case "k":
        return Array.from({ length: count }, () => ({ type: "key", name: name === "j" ? "down" : "up" }));
      case "v":
        return [{ type: "key", name: "ctrl-g" }];
      case "/":
        return [{ type: "key", name: "ctrl-r" }];
      default: {
        const place = this.#placeOf(name, count);
        if (place !== undefined) editor.set(editor.text, place);
      }
    }
    this.#stayOnText();
    return [];
  }

  #operate(operator: string, motion: string, count: number): void {
    const editor = this.#editor;
    let [start, end] = [editor.cursor, editor.cursor];
    if (motion === operator) {
      start = this.#lineStart;
      end = this.#lineEnd;
      // A deleted line includes its line ending.
      if (operator === "d" && end < editor.text.length) end++;
      else if (operator === "d" && start > 0) start--;
    } else {
      // As in vi, `cw` does not include the blanks after the word.
      const isWord = operator === "c" && motion === "w" && /\S/.test(editor.text[start] ?? " ");
      const place = this.#placeOf(isWord ? "e" : motion, count);
      if (place === undefined) return;
      const isInclusive = isWord || motion === "e";
      [start, end] = place < start ? [place, start] : [start, place + (isInclusive ? 1 : 0)];
    }
    if (operator === "y") this.#register = editor.text.slice(start, end);
    else this.#delete(start, end);
    if (operator === "y") editor.set(editor.text, start);
    if (operator === "c") this.reset();
  }

  #delete(start: number, end: number): void {
    if (end > start) this.#register = this.#editor.text.slice(start, end);
    this.#editor.replace(start, end, "");
  }

  #replaceCharacter(character: string): void {
    const { cursor } = this.#editor;
    if (this.#isAtEnd) return;
    this.#editor.replace(cursor, this.#placeOf("l", 1) ?? cursor, character);
    this.#editor.move("left");
  }

  #find(character: string): void {
    const { text, cursor } = this.#editor;
    const found = text.slice(0, this.#lineEnd).indexOf(character, cursor + 1);
    if (found !== -1) this.#editor.set(text, found);
  }

  /** The target of a motion; `undefined` if it is not a motion. */
  #placeOf(motion: string, count: number): number | undefined {
    const { text, cursor } = this.#editor;
    let at = cursor;
    for (let time = 0; time < count; time++) {
      const next = this.#step(motion, text, at);
      if (next === undefined) return undefined;
      at = next;
    }
    return at;
  }

  #step(motion: string, text: string, at: number): number | undefined {
    const after = text.slice(at, at + REACH);
    const before = text.slice(Math.max(0, at - REACH), at);
    switch (motion) {
      case "h":
        return Math.max(this.#lineStart, at - (lastCharacter(before)?.length ?? 0));
      case "l":
        return Math.min(this.#lineEnd, at + (firstCharacter(after)?.length ?? 0));
      case "0":
        return this.#lineStart;
      case "^":
        return this.#lineStart + (/^[^\S\n]*/.exec(text.slice(this.#lineStart))?.[0].length ?? 0);
      case "$":
        return this.#lineEnd;
      case "w":
        return at + (NEXT_START.exec(after)?.[0].length ?? 0);
      case "b":
        return at - (LAST_START.exec(before)?.[0].length ?? 0);
      case "e":
        return Math.max(at, at + (NEXT_END.exec(after.slice(1))?.[0].length ?? 0));
      default:
        return undefined;
    }
  }

  get #lineStart(): number {
    return this.#editor.text.slice(0, this.#editor.cursor).lastIndexOf("\n") + 1;
  }

  get #lineEnd(): number {
    const end = this.#editor.text.indexOf("\n", this.#editor.cursor);
    return end === -1 ? this.#editor.text.length : end;
  }

  get #isAtEnd(): boolean {
    return this.#editor.cursor === this.#lineEnd;
  }

  /** In normal mode the cursor is on a character, not after the last one. */
  #stayOnText(): void {
    if (this.#isNormal && this.#isAtEnd && this.#editor.cursor > this.#lineStart) this.#editor.move("left");
  }
}

function firstCharacter(text: string): string | undefined {
  return graphemes(text.slice(0, 64))[0];
}

function lastCharacter(text: string): string | undefined {
  return graphemes(text.slice(-64)).at(-1);
}
