import type { ActivityFrame } from "../display/activity.js";
import type { Editor } from "../input/editor.js";
import { viewEditor } from "../input/editorView.js";
import type { Style } from "../text/style.js";
import { clipRow } from "../text/width.js";
import { promptText } from "./promptText.js";
import { type Above, rowsBefore } from "./rowsBefore.js";
import { type Below, lastOf, rowsBelow } from "./rowsBelow.js";

const LOWEST_WITH_STATUS = 8; // On a terminal with fewer rows, the conversation needs all of them.

/** What is on the screen at one moment, apart from the conversation itself. */
export interface ScreenParts extends Above, Below {
  readonly editor: Editor;
  /** Words in front of the input line instead of the prompt. */
  readonly prompt: string | undefined;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The rows to draw, and those that go into the scrollback above them. */
export interface ScreenLayout extends ActivityFrame {
  readonly cursor: { readonly row: number; readonly column: number };
}

/**
 * Divides the rows of the terminal: the input line always stays, then what is below it and the question or the running turn
 * above it, and the conversation, drawn by `activity` with the rows that are left, gets the rest.
 */
export function layOut(
  parts: ScreenParts,
  activity: (width: number, room: number) => ActivityFrame,
  { width, height }: Size,
  style: Style,
): ScreenLayout {
  const { editor, dialog, picker, status } = parts;
  const isAsking = dialog !== undefined || picker !== undefined;
  const { text: prompt, columns: indent } = promptText(parts.prompt, isAsking, width, style);
  const input = viewEditor(editor.text, editor.cursor, width - indent, Math.ceil(height / 3));
  const inputRows = input.rows.map((row, index) => (index === 0 ? prompt : " ".repeat(indent)) + row);
  const below = rowsBelow(
    { ...parts, status: height < LOWEST_WITH_STATUS ? undefined : status },
    { width, room: Math.max(0, height - 2 - inputRows.length) },
    style,
  );
  const most = Math.max(1, height - inputRows.length - below.length - 2);
  const before = rowsBefore(parts, width, style).slice(0, most);
  const room = height - 1 - before.length - inputRows.length - below.length;
  const { above, rows, answerRows } = activity(width, Math.max(1, room));
  // If the terminal has too few rows, those above the input line are cut.
  const top = lastOf([...rows, ...before], height - 1 - inputRows.length - below.length).map((row) =>
    clipRow(row, width),
  );
  return {
    above,
    rows: [...top, ...inputRows, ...below],
    answerRows: top.length === rows.length + before.length ? answerRows : 0,
    cursor: { row: top.length + input.cursor.row, column: input.cursor.column + indent },
  };
}
