import {
  hangingIndent,
  isTableRow,
  MARKDOWN_START,
  type MarkdownState,
  renderMarkdownLine,
} from "./markdown.js";
import { safeProse } from "./safeText.js";
import type { Style } from "./style.js";
import { readTable, type Table, tableLines } from "./table.js";
import { wrapRows, wrapWords } from "./width.js";

interface AnswerLine {
  readonly text: string;
  /** How far in its rows after the first begin; none for code, which is shown as it is, to be copied. */
  readonly indent: number | undefined;
  /** A whole table, in place of `text`. */
  readonly table?: Table;
  width: number;
  rows: readonly string[];
}

// Text is taken in at least this often. Small pieces that wait long for a frame outlive the cheap part of garbage
// collection, which cost more than all the rest of the display.
const MOST_WAITING = 2048;

// A table is drawn once its last row is known. A longer one leaves as the lines it was written in.
const MOST_TABLE_ROWS = 500;

// Most lines leave before they are ever broken into rows.
const NO_ROWS: readonly string[] = [];

/**
 * The answer while it is written. Adding text is only appending; lines are made for many pieces at once. Lines
 * stay changeable, so that a broken answer can be taken back, until there are more than the screen holds.
 */
export class AnswerStream {
  readonly #style: Style;
  #incoming = "";
  #partial = "";
  #state: MarkdownState = MARKDOWN_START;
  #lines: AnswerLine[] = [];
  /** Lines of a table that may go on. */
  #tableRows: string[] = [];
  #flushed = false;

  constructor(style: Style) {
    this.#style = style;
  }

  add(text: string): void {
    this.#incoming += text;
    if (this.#incoming.length > MOST_WAITING) this.#digest();
  }

  get isEmpty(): boolean {
    const { length } = this.#lines;
    return this.#incoming === "" && this.#partial === "" && length + this.#tableRows.length === 0;
  }

  /** The rows to show now, at most `maxRows`, and the lines that had to leave for the scrollback. */
  frame(width: number, maxRows: number): { readonly above: string[]; readonly rows: string[] } {
    this.#digest();
    const last = [...this.#openTable(width), ...this.#partialRows(width, maxRows)].slice(-maxRows);
    // From the end: lines that do not fit leave as they are and need not be broken into rows.
    let room = maxRows - last.length;
    let first = this.#lines.length;
    while (first > 0 && room > 0) {
      room -= rowsOf(this.#lines[first - 1], width, this.#style).length;
      if (room >= 0) first--;
    }
    const above: string[] = [];
    if (first > 0) {
      for (const line of this.#lines.slice(0, first)) above.push(...finalRows(line, width, this.#style));
      this.#lines = this.#lines.slice(first);
      this.#flushed = true;
    }
    return { above, rows: [...this.#lines.flatMap(({ rows }) => rows), ...last] };
  }

  /** Everything that has not left yet, as it stays at a given width. The next text starts a new answer. */
  finish(): (width: number) => string[] {
    this.#digest();
    if (this.#partial !== "") this.#complete(safeProse(this.#partial));
    this.#endTable();
    const lines = this.#lines;
    this.#reset();
    return (width) => lines.flatMap((line) => finalRows(line, width, this.#style));
  }

  /** Forgets the answer. Returns whether part of it is in the scrollback already and cannot be taken back. */
  discard(): boolean {
    const flushed = this.#flushed;
    this.#reset();
    return flushed;
  }

  #reset(): void {
    this.#incoming = "";
    this.#partial = "";
    this.#state = MARKDOWN_START;
    this.#lines = [];
    this.#tableRows = [];
    this.#flushed = false;
  }

  /** Takes in what arrived since the last time, all its lines at once. */
  #digest(): void {
    const end = this.#incoming.lastIndexOf("\n") + 1;
    const complete = end === 0 ? "" : this.#partial + this.#incoming.slice(0, end);
    if (end > 0) this.#partial = "";
    this.#partial += this.#incoming.slice(end);
    this.#incoming = "";
    if (complete === "") return;
    for (const line of safeProse(complete.replaceAll("\r\n", "\n")).split("\n").slice(0, -1)) {
      this.#complete(line);
    }
  }

  #complete(line: string): void {
    if (isTableRow(line, this.#state)) {
      this.#tableRows.push(line);
      if (this.#tableRows.length > MOST_TABLE_ROWS) this.#endTable();
      return;
    }
    this.#endTable();
    this.#addLine(line);
  }

  /** The table has ended: it is drawn from now on, or its lines stay as they were written if it is none. */
  #endTable(): void {
    if (this.#tableRows.length === 0) return;
    const rows = this.#tableRows;
    this.#tableRows = [];
    const table = readTable(rows);
    if (table) this.#lines.push({ text: "", indent: 0, table, width: 0, rows: NO_ROWS });
    else for (const row of rows) this.#addLine(row);
  }

  #openTable(width: number): string[] {
    const table = readTable(this.#tableRows);
    if (table) return tableLines(table, width, this.#style);
    return this.#tableRows.flatMap((row) => wrapRows(row, width));
  }

  #addLine(line: string): void {
    const { text, state } = renderMarkdownLine(line, this.#state, this.#style);
    const indent = hangingIndent(line, this.#state, state);
    this.#state = state;
    this.#lines.push({ text, indent, width: 0, rows: NO_ROWS });
  }

  /** The line being written, or as much of its end as the screen holds: it may never end. */
  #partialRows(width: number, maxRows: number): string[] {
    if (this.#partial === "") return [];
    // Half of a line end, or of an emoji, waits for the rest of it.
    const written = this.#partial
      .slice(-width * maxRows)
      .replace(/(?:\r|\u200d|\u200d?[\ud800-\udbff])$/, "");
    const end = safeProse(written);
    const { text, state } = renderMarkdownLine(end, this.#state, this.#style);
    return brokenRows(text, hangingIndent(end, this.#state, state), width).slice(-maxRows);
  }
}

function rowsOf(line: AnswerLine | undefined, width: number, style: Style): readonly string[] {
  if (!line) return [];
  if (line.width !== width) {
    line.width = width;
    line.rows = line.table ? tableLines(line.table, width, style) : brokenRows(line.text, line.indent, width);
  }
  return line.rows;
}

/** What stays in the scrollback. Code is left to the terminal to break: it is copied as it was written. */
function finalRows(line: AnswerLine, width: number, style: Style): readonly string[] {
  return line.indent === undefined ? [line.text] : rowsOf(line, width, style);
}

function brokenRows(text: string, indent: number | undefined, width: number): string[] {
  if (indent === undefined) return wrapRows(text, width);
  return wrapWords(text, width, indent * 2 > width ? 0 : indent);
}
