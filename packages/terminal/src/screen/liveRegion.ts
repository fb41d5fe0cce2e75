import { styledWidth, wrapRows } from "../text/width.js";

// Synchronized output: terminals that support it show the whole frame in one piece, others ignore the codes.
const FRAME_START = "\x1b[?2026h\x1b[?25l";
const FRAME_END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ROW = "\x1b[K";

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

export interface Frame {
  /** Lines that move permanently into the scrollback. They may be wider than the terminal. */
  readonly above: readonly string[];
  /** The rows that stay at the bottom; each must fit the terminal's width with a column to spare. */
  readonly rows: readonly string[];
  readonly cursor?: Cursor;
}

/**
 * The rows at the bottom of the terminal that change. Everything above them is in the scrollback and never touched
 * again, so that it can be scrolled, selected and copied as usual.
 */
export class LiveRegion {
  readonly #write: (text: string) => void;
  #rows: readonly string[] = [];
  #cursor: Cursor = { row: 0, column: 0 };

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Shows a frame with as few bytes as possible; writes nothing if nothing changed. */
  draw({ above, rows, cursor }: Frame): void {
    const end = cursor ?? { row: Math.max(0, rows.length - 1), column: styledWidth(rows.at(-1) ?? "") };
    const body = above.length > 0 ? this.#printAbove(above, rows) : this.#changedRows(rows);
    const moved = end.row !== this.#cursor.row || end.column !== this.#cursor.column;
    if (body === undefined && !moved) return;
    const position =
      body === undefined
        ? moveRows(end.row - this.#cursor.row)
        : moveRows(end.row - Math.max(0, rows.length - 1));
    const column = end.column > 0 ? `\r\x1b[${end.column}C` : "\r";
    this.#write(`${FRAME_START}${body ?? ""}${position}${column}${cursor ? SHOW_CURSOR : ""}${FRAME_END}`);
    this.#rows = [...rows];
    this.#cursor = end;
  }

  /** Erases the region; the next frame starts where it was. */
  clear(): void {
    this.#write(`${this.#erased()}${SHOW_CURSOR}`);
    this.forget();
  }

  /** Forgets the drawn rows: the cursor is at the start of an empty row. */
  forget(): void {
    this.#rows = [];
    this.#cursor = { row: 0, column: 0 };
  }

  /**
   * Called when the terminal was resized: rows may have wrapped, and moved into the scrollback. The first `kept` rows
   * stay where they are, because rows in the scrollback cannot be erased and would appear twice; the others are erased.
   */
  resized(columns: number, kept = 0): void {
    // The terminal wraps a row before a wide character that does not fit, so the width alone does not determine the
    // number of rows.
    let up = rowOfColumn(this.#rows[this.#cursor.row] ?? "", this.#cursor.column, columns);
    for (const row of this.#rows.slice(kept, this.#cursor.row)) up += wrapRows(row, columns).length;
    this.#write(`${moveRows(-up)}\r${clearRows(Math.max(up + 1, this.#rows.length - kept))}`);
    this.forget();
  }

  #toTop(): string {
    return `${moveRows(-this.#cursor.row)}\r`;
  }

  #erased(): string {
    return `${this.#toTop()}${clearRows(this.#rows.length)}`;
  }

  #printAbove(above: readonly string[], rows: readonly string[]): string {
    // End the last line with a line break even if there are no rows: the region starts on its own row.
    return `${this.#erased()}${above.join("\r\n")}\r\n${rows.join("\r\n")}`;
  }

  #changedRows(rows: readonly string[]): string | undefined {
    const old = this.#rows;
    const same = (index: number): boolean => rows[index] === old[index];
    if (rows.length === old.length && rows.every((_, index) => same(index))) return undefined;
    if (rows.length === 0) return this.#erased();
    let text = this.#toTop();
    rows.forEach((row, index) => {
      if (index > 0) text += "\r\n";
      if (!same(index)) text += `${row}${CLEAR_ROW}`;
    });
    // Clear below the last row, not from the cursor on: the last row may be unchanged.
    if (old.length > rows.length) text += `\r\n${CLEAR_BELOW}\x1b[1A`;
    return text;
  }
}

/** The index of the wrapped row that contains the given column of the line. */
function rowOfColumn(line: string, column: number, width: number): number {
  let left = column;
  const rows = wrapRows(line, width).map(styledWidth);
  for (const [at, columns] of rows.entries()) {
    if (left < columns || (left === columns && columns < width)) return at;
    left -= columns;
  }
  // After the end of the line.
  return rows.length - 1 + Math.floor(((rows.at(-1) ?? 0) + left) / width);
}

/**
 * Clears from the start of the first of `count` rows to the end of the screen. Not in one step: from the upper left
 * corner that would clear the whole screen, and tmux keeps a copy of a cleared screen.
 */
function clearRows(count: number): string {
  return count > 1 ? `${CLEAR_ROW}\x1b[1B${CLEAR_BELOW}\x1b[1A` : CLEAR_ROW;
}

function moveRows(rows: number): string {
  if (rows === 0) return "";
  return rows < 0 ? `\x1b[${-rows}A` : `\x1b[${rows}B`;
}
