import { renderInline } from "../markdown/inlineMarkdown.js";
import {
  hangingIndent,
  isTableRow,
  MARKDOWN_START,
  type MarkdownState,
  renderMarkdownLine,
} from "../markdown/markdown.js";
import { readTable, type Table, tableLines } from "../markdown/table.js";
import { safeProse } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { expandTabs, wrapRows, wrapWords } from "../text/width.js";

/** A complete line. */
interface AnswerLine {
  readonly text: string;
  /** The indentation of its wrapped rows; none for code, which is shown unchanged so that it can be copied. */
  readonly indent: number | undefined;
  /** Whether its start is already in the scrollback: its first row is indented like the others. */
  readonly goesOn: boolean;
  /** A whole table, in place of `text`. */
  readonly table?: Table;
}

/** The state of the unfinished line once its start is in the scrollback. */
interface LineStart {
  readonly indent: number | undefined;
  /** The state after the line. */
  readonly next: MarkdownState;
}

export interface AnswerFrame {
  readonly above: readonly string[];
  readonly rows: readonly string[];
  /** Whether the rows are all of the answer below `above`. */
  readonly isWhole: boolean;
}

// Flatten the incoming text at least this often. Small strings that wait for a frame survive young-generation garbage
// collection, which cost more than the rest of the display.
const MOST_WAITING = 2048;

// A table is drawn once its last row is known. A longer one is printed as the lines it was written in.
const MOST_TABLE_ROWS = 500;

// A longer unfinished line is shown without inline styles: they are parsed again with every frame.
const LONGEST_MARKED = 4096;

// A text that ends in the first half of a line ending or of an emoji waits for the second half.
const HALF_AT_END = /(?:\r|\u200d|\u200d?[\ud800-\udbff])$/;

/**
 * One answer while it is written. Rows that cannot change any more are moved to the scrollback with the next frame. So
 * little has to be redrawn when the terminal is resized: the last row of the unfinished line, and a table until it is
 * complete.
 */
export class AnswerStream {
  readonly #style: Style;
  #waiting: string[] = [];
  #incoming = "";
  /** The part of the unfinished line that is not in the scrollback. */
  #partial = "";
  #start: LineStart | undefined;
  #state: MarkdownState = MARKDOWN_START;
  #lines: AnswerLine[] = [];
  /** Lines of a table that may continue. */
  #tableRows: string[] = [];
  #hasLeft = false;

  constructor(style: Style) {
    this.#style = style;
  }

  add(text: string): void {
    this.#incoming += text;
    if (this.#incoming.length <= MOST_WAITING) return;
    // Searching flattens the concatenated string.
    this.#incoming.indexOf("\n");
    this.#waiting.push(this.#incoming);
    this.#incoming = "";
  }

  /** Whether any text was added, even if all of it is in the scrollback. */
  get hasBegun(): boolean {
    return this.#hasLeft || !this.#isEmpty;
  }

  /** The rows to show now, at most the last `maxRows`, and those that move to the scrollback. */
  frame(width: number, maxRows: number): AnswerFrame {
    this.#digest();
    const above = this.#lines.splice(0).flatMap((line) => finalRows(line, width, this.#style));
    const table = this.#openTable(width);
    const { leaving, rows } = this.#partialRows(width);
    above.push(...leaving);
    this.#hasLeft ||= above.length > 0;
    const all = [...table, ...rows];
    return { above, rows: all.slice(-maxRows), isWhole: all.length <= maxRows };
  }

  /**
   * Treats everything as moved to the scrollback, because the last frame showed all of it; the answer continues below.
   */
  keepShown(): void {
    if (this.#tableRows.length > 0) {
      this.#tableRows = [];
      this.#hasLeft = true;
    }
    const { half, line } = this.#readPartial();
    if (line === "") return;
    this.#start ??= this.#lineStart(line);
    this.#partial = half;
    this.#hasLeft = true;
  }

  /** Ends the answer: returns all remaining rows for the given width. */
  finish(width: number): string[] {
    this.#digest();
    if (this.#partial !== "") this.#complete(safeProse(this.#partial));
    this.#partial = "";
    this.#endTable();
    return this.#lines.splice(0).flatMap((line) => finalRows(line, width, this.#style));
  }

  /** Whether a part is in the scrollback and can no longer be erased. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get #isEmpty(): boolean {
    const { length } = this.#lines;
    const hasText = this.#incoming !== "" || this.#partial !== "" || this.#waiting.length > 0;
    return !hasText && length + this.#tableRows.length === 0;
  }

  /** Processes the text that arrived since the last frame. */
  #digest(): void {
    const incoming = this.#waiting.length === 0 ? this.#incoming : this.#waiting.join("") + this.#incoming;
    this.#waiting = [];
    this.#incoming = "";
    const end = incoming.lastIndexOf("\n") + 1;
    const complete = end === 0 ? "" : this.#partial + incoming.slice(0, end);
    this.#partial = end === 0 ? this.#partial + incoming : incoming.slice(end);
    if (complete === "") return;
    for (const line of safeProse(complete.replaceAll("\r\n", "\n")).split("\n").slice(0, -1)) {
      this.#complete(line);
    }
  }

  #complete(line: string): void {
    if (this.#start) {
      const { indent, next } = this.#start;
      this.#start = undefined;
      this.#state = next;
      if (line !== "") this.#lines.push({ text: this.#inline(line, indent), indent, goesOn: true });
      return;
    }
    if (isTableRow(line, this.#state)) {
      this.#tableRows.push(line);
      if (this.#tableRows.length > MOST_TABLE_ROWS) this.#endTable();
      return;
    }
    this.#endTable();
    this.#addLine(line);
  }

  /** Ends the table: it is drawn, or its lines stay as they were written if they are not a valid table. */
  #endTable(): void {
    if (this.#tableRows.length === 0) return;
    const rows = this.#tableRows;
    this.#tableRows = [];
    const table = readTable(rows);
    if (table) this.#lines.push({ text: "", indent: 0, goesOn: false, table });
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
    this.#lines.push({ text, indent, goesOn: false });
  }

  #lineStart(line: string): LineStart {
    const { state } = renderMarkdownLine(line, this.#state, this.#style);
    return { indent: hangingIndent(line, this.#state, state), next: state };
  }

  /** The unfinished line, safe to display, and its end if that waits for a second half. */
  #readPartial(): { readonly half: string; readonly line: string } {
    const half = HALF_AT_END.exec(this.#partial)?.[0] ?? "";
    return { half, line: safeProse(this.#partial.slice(0, this.#partial.length - half.length)) };
  }

  /**
   * The rows of the unfinished line. All rows of prose but the last move to the scrollback: later text does not change
   * them.
   */
  #partialRows(width: number): { readonly leaving: readonly string[]; readonly rows: readonly string[] } {
    const { half, line: written } = this.#readPartial();
    if (written === "") return { leaving: [], rows: [] };
    const goesOn = this.#start !== undefined;
    const start = this.#start ?? this.#lineStart(written);
    const { indent } = start;
    if (indent === undefined)
      return { leaving: [], rows: wrapRows(this.#marked(written, indent, goesOn), width) };
    const line = expandTabs(written.trimEnd());
    const rows = brokenRows(this.#marked(line, indent, goesOn), indent, width, goesOn);
    if (rows.length === 1) return { leaving: [], rows };
    // Wrap the line without styles in the same way, to find where the last row begins in the text.
    const last = (brokenRows(line, indent, width, goesOn).at(-1) ?? "").slice(marginOf(indent, width));
    this.#partial = line.slice(line.length - last.length) + written.slice(written.trimEnd().length) + half;
    this.#start = start;
    return { leaving: rows.slice(0, -1), rows: rows.slice(-1) };
  }

  #marked(line: string, indent: number | undefined, goesOn: boolean): string {
    if (line.length > LONGEST_MARKED) return line;
    return goesOn ? this.#inline(line, indent) : renderMarkdownLine(line, this.#state, this.#style).text;
  }

  /** The rest of a line whose start is in the scrollback: prose with inline styles, or code. */
  #inline(line: string, indent: number | undefined): string {
    return indent === undefined ? this.#style.cyan(line) : renderInline(line, this.#style);
  }
}

/**
 * The rows for the scrollback. Long lines of code are left for the terminal to wrap, so that they are copied unchanged.
 */
function finalRows({ text, indent, goesOn, table }: AnswerLine, width: number, style: Style): string[] {
  if (table) return tableLines(table, width, style);
  return indent === undefined ? [text] : brokenRows(text, indent, width, goesOn);
}

function brokenRows(text: string, indent: number, width: number, goesOn: boolean): string[] {
  const margin = marginOf(indent, width);
  return wrapWords(goesOn ? " ".repeat(margin) + text : text, width, margin);
}

function marginOf(indent: number, width: number): number {
  return indent * 2 > width ? 0 : indent;
}
