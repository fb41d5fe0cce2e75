import { escapeInvisible } from "@agent/core/toolkit";
import type { Cursor } from "../screen/liveRegion.js";
import { textWidth, wrapRows } from "../text/width.js";

export interface EditorView {
  readonly rows: readonly string[];
  readonly cursor: Cursor;
}

/**
 * The rows of a text around its cursor, at most `maxRows`. Long lines are wrapped; control characters are visible. Only
 * the visible part is computed, so that a large paste costs no more than a short line.
 */
export function viewEditor(text: string, cursor: number, width: number, maxRows: number): EditorView {
  const reach = width * maxRows;
  const start = text.slice(0, cursor).lastIndexOf("\n") + 1;
  const ending = text.indexOf("\n", cursor);
  const end = ending === -1 ? text.length : ending;

  const before = escapeInvisible(text.slice(Math.max(start, cursor - reach), cursor));
  const after = escapeInvisible(text.slice(cursor, Math.min(end, cursor + reach)));
  const line = rowsOf(before + after, width);
  const upToCursor = rowsOf(before, width);
  let row = upToCursor.length - 1;
  let column = textWidth(upToCursor.at(-1) ?? "");
  if (column >= width) {
    // The cursor is on the next row, which exists only if the line continues.
    row += 1;
    column = 0;
    if (line.length === row) line.push("");
  }

  const above = linesAround(
    text.slice(Math.max(0, start - 1 - reach), Math.max(0, start - 1)),
    start > 0,
    width,
  );
  const below = linesAround(text.slice(end + 1, end + 1 + reach), end < text.length, width);
  const rows = [...above, ...line, ...below];
  const cursorRow = above.length + row;
  const first = Math.max(0, Math.min(cursorRow - Math.floor(maxRows / 2), rows.length - maxRows));
  return { rows: rows.slice(first, first + maxRows), cursor: { row: cursorRow - first, column } };
}

function linesAround(text: string, exists: boolean, width: number): string[] {
  return exists
    ? escapeInvisible(text)
        .split("\n")
        .flatMap((line) => rowsOf(line, width))
    : [];
}

function rowsOf(line: string, width: number): string[] {
  return wrapRows(line.replaceAll("\t", "    "), width);
}
