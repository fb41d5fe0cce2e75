import { graphemes } from "../text/width.js";

// How far to look for a grapheme boundary: more than any grapheme has, and cheap in a very long text.
const GRAPHEME_REACH = 64;
const MOST_UNDO = 100;
// With combining marks, so that no word ends inside a letter.
const WORD = /[\p{L}\p{M}\p{N}_]/u;

/** The text being written and the cursor. The cursor is always between two graphemes. */
export class LineEditor {
  #text = "";
  #cursor = 0;
  #killed = "";
  /** Earlier states of the line, oldest first. */
  #past: { readonly text: string; readonly cursor: number }[] = [];

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  set(text: string, cursor = text.length): void {
    if (text !== this.#text) this.#remember(text);
    this.#text = text;
    this.#cursor = cursor;
  }

  /** Returns the text and clears the line. */
  take(): string {
    const text = this.#text;
    this.set("");
    this.#past = [];
    return text;
  }

  /** Undoes the last edit; letters typed in a row count as one edit. */
  undo(): void {
    const last = this.#past.pop();
    if (!last) return;
    this.#text = last.text;
    this.#cursor = last.cursor;
  }

  /** Saves the state for `undo`. A letter after a letter belongs to the same edit. */
  #remember(next: string): void {
    const typed = next.length - this.#text.length === 1 && /\S/.test(next[this.#cursor] ?? " ");
    const last = this.#past.at(-1);
    const goesOn =
      typed && last !== undefined && this.#text.length > last.text.length && !/\s$/.test(this.#text);
    if (goesOn) return;
    this.#past.push({ text: this.#text, cursor: this.#cursor });
    if (this.#past.length > MOST_UNDO) this.#past.shift();
  }

  insert(text: string): void {
    this.replace(this.#cursor, this.#cursor, text);
  }

  /** Replaces a part with `text` and puts the cursor after it. */
  replace(start: number, end: number, text: string): void {
    this.set(this.#text.slice(0, start) + text + this.#text.slice(end), start + text.length);
  }

  /** Applies an editing key. Returns `false` if the key is not an editing key or has no effect here. */
  press(name: string): boolean {
    const action = ACTIONS[name];
    return action !== undefined && action(this) !== false;
  }

  get #lineStart(): number {
    return this.#text.slice(0, this.#cursor).lastIndexOf("\n") + 1;
  }

  get #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#cursor);
    return end === -1 ? this.#text.length : end;
  }

  move(to: "left" | "right" | "home" | "end" | "word-left" | "word-right"): void {
    this.#cursor = this.#place(to);
  }

  /** Deletes up to a position. `yank` inserts the last deleted word or line again. */
  kill(to: "left" | "right" | "home" | "end" | "word-left" | "word-right"): void {
    const place = this.#place(to);
    const [start, end] = place < this.#cursor ? [place, this.#cursor] : [this.#cursor, place];
    if (to !== "left" && to !== "right" && end > start) this.#killed = this.#text.slice(start, end);
    this.replace(start, end, "");
  }

  yank(): void {
    this.insert(this.#killed);
  }

  /** Moves to the line above or below, to the same column if it exists. Returns `false` at the edge of the text. */
  moveLine(direction: -1 | 1): boolean {
    const column = graphemes(this.#text.slice(this.#lineStart, this.#cursor)).length;
    const edge = direction < 0 ? this.#lineStart - 1 : this.#lineEnd + 1;
    if (edge < 0 || edge > this.#text.length) return false;
    this.#cursor = edge;
    const start = this.#lineStart;
    const line = graphemes(this.#text.slice(start, this.#lineEnd));
    this.#cursor = start + line.slice(0, column).join("").length;
    return true;
  }

  /** The end of the characters from `at` on that belong to a word, or of those that do not. */
  #skip(at: number, direction: -1 | 1, inWord: boolean): number {
    for (let place = at; ; ) {
      const character = characterAt(this.#text, place, direction);
      if (character === "" || WORD.test(character) !== inWord) return place;
      place += direction * character.length;
    }
  }

  #place(to: "left" | "right" | "home" | "end" | "word-left" | "word-right"): number {
    const before = this.#text.slice(Math.max(0, this.#cursor - GRAPHEME_REACH), this.#cursor);
    const after = this.#text.slice(this.#cursor, this.#cursor + GRAPHEME_REACH);
    switch (to) {
      case "left":
        return this.#cursor - (graphemes(before).at(-1)?.length ?? 0);
      case "right":
        return this.#cursor + (graphemes(after)[0]?.length ?? 0);
      case "home":
        return this.#lineStart;
      case "end":
        return this.#lineEnd;
      case "word-left":
        return this.#skip(this.#skip(this.#cursor, -1, false), -1, true);
      case "word-right":
        return this.#skip(this.#skip(this.#cursor, 1, false), 1, true);
    }
  }
}

/** The character after or before a position, both halves of a surrogate pair; "" at the edge of the text. */
function characterAt(text: string, at: number, direction: -1 | 1): string {
  const pair = direction > 0 ? text.slice(at, at + 2) : text.slice(Math.max(0, at - 2), at);
  if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(pair)) return pair;
  return direction > 0 ? pair.slice(0, 1) : pair.slice(-1);
}

const ACTIONS: Readonly<Record<string, (editor: LineEditor) => unknown>> = {
  left: (editor) => editor.move("left"),
  right: (editor) => editor.move("right"),
  home: (editor) => editor.move("home"),
  end: (editor) => editor.move("end"),
  up: (editor) => editor.moveLine(-1),
  down: (editor) => editor.moveLine(1),
  newline: (editor) => editor.insert("\n"),
  backspace: (editor) => editor.kill("left"),
  delete: (editor) => editor.kill("right"),
  "ctrl-a": (editor) => editor.move("home"),
  "ctrl-e": (editor) => editor.move("end"),
  "ctrl-b": (editor) => editor.move("left"),
  "ctrl-f": (editor) => editor.move("right"),
  "alt-b": (editor) => editor.move("word-left"),
  "alt-f": (editor) => editor.move("word-right"),
  "ctrl-d": (editor) => editor.kill("right"),
  "ctrl-h": (editor) => editor.kill("left"),
  "ctrl-k": (editor) => editor.kill("end"),
  "ctrl-u": (editor) => editor.kill("home"),
  "ctrl-w": (editor) => editor.kill("word-left"),
  "alt-backspace": (editor) => editor.kill("word-left"),
  "alt-d": (editor) => editor.kill("word-right"),
  "ctrl-y": (editor) => editor.yank(),
  undo: (editor) => editor.undo(),
};
