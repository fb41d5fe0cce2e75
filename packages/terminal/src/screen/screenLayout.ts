import { escapeToLine } from "@agent/internal";
import { type ApprovalDialog, highlighted } from "../approval/approvalDialog.js";
import type { ActivityFrame } from "../display/activity.js";
import { workingRow } from "../display/workingRow.js";
import type { LineEditor } from "../input/editor.js";
import { viewEditor } from "../input/editorView.js";
import type { Menu, Picker } from "../input/menu.js";
import type { Style } from "../text/style.js";
import { clipRow, cutToWidth, textWidth, wrapWords } from "../text/width.js";
import { PROMPT } from "./firstPrompt.js";
import type { ScreenLayout } from "./liveScreen.js";
import { type Status, type StatusLook, statusRow } from "./statusRow.js";

const LOWEST_WITH_STATUS = 8; // On a terminal with fewer rows, the conversation needs all of them.
const LONGEST_QUEUED = 500;
const MOST_HINTS = 6;
// A list takes the height of the window except this much for the conversation, and at least this many rows.
const KEPT_ROWS = 8;
const LEAST_MENU = 8;
const ASKING = "? ";

/** Everything on the screen at one moment, apart from the conversation itself. */
export interface ScreenParts extends Above, Below {
  readonly editor: LineEditor;
  /** Text before the input line instead of the prompt. */
  readonly prompt: string | undefined;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Divides the rows of the terminal: the input line always stays, then the rows below it and the question or the current
 * turn above it; the conversation, drawn by `activity`, gets the rest.
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
  // If the terminal has too few rows, those above the input line are dropped.
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

/** The content of the rows above the input line. */
interface Above {
  readonly dialog: ApprovalDialog | undefined;
  readonly picker: Picker | undefined;
  /** The current turn: its work in a few words, and its start time. */
  readonly turn: { readonly doing: string; readonly startedAt: number | undefined } | undefined;
  readonly queued: readonly string[];
}

/** The rows above the input line: an open question, else an open list, else the current turn; and queued messages. */
function rowsBefore({ dialog, picker, turn, queued }: Above, width: number, style: Style): string[] {
  const waiting = queued.map((text) =>
    style.dim(cutToWidth(`  queued: ${escapeToLine(text.slice(0, LONGEST_QUEUED))}`, width)),
  );
  if (dialog) return ["", ...waiting, ...dialog.rows(width, style, turn !== undefined)];
  if (picker) return ["", ...headingOf(picker, width, style)];
  if (!turn) return ["", ...waiting];
  return ["", workingRow({ ...turn, hint: "esc stops" }, width, style), ...waiting];
}

/**
 * The question of a list with its keys: in one row, or the keys below it. Without space the filter is not mentioned, but
 * that other answers can be typed is.
 */
function headingOf({ heading, takesText }: Picker, width: number, style: Style): string[] {
  const title = cutToWidth(escapeToLine(heading.title), width);
  const keys = `${heading.typing} · ${heading.keys}`;
  if (textWidth(`${title} · ${keys}`) <= width)
    return [`${highlighted(title, style)}${style.dim(` · ${keys}`)}`];
  const shown = takesText || textWidth(keys) <= width ? keys : heading.keys;
  return [highlighted(title, style), ...wrapWords(shown, width).map(style.dim)];
}

/** What can be shown below the input line. */
interface Below {
  readonly menu: Menu | undefined;
  readonly hints: readonly string[];
  readonly status: Status | undefined;
  readonly look: StatusLook;
  /** The key that switches the mode, if there is one. */
  readonly modeKey: string | undefined;
}

/** The rows below the input line: an open list, else hints, else the status. */
function rowsBelow(
  { menu, hints, status, look, modeKey }: Below,
  { width, room }: { readonly width: number; readonly room: number },
  style: Style,
): string[] {
  if (menu) return menu.rows(width, Math.min(room, Math.max(LEAST_MENU, room - KEPT_ROWS)), style);
  const [only] = hints;
  // A single hint is a sentence, several are a list.
  if (only !== undefined && hints.length === 1) return lastOf(wrapWords(`  ${only}`, width, 2), room);
  if (hints.length > 0) {
    const most = Math.max(MOST_HINTS, room - KEPT_ROWS);
    const more = hints.length > most ? [style.dim(`… ${hints.length - most} more`)] : [];
    return lastOf([...hints.slice(0, most), ...more], room).map((line) => clipRow(`  ${line}`, width));
  }
  return status && room > 0 ? [clipRow(statusRow(status, width, style, look, modeKey), width)] : [];
}

/** The last `count` rows, which may be 0. */
function lastOf(rows: readonly string[], count: number): string[] {
  return count > 0 ? rows.slice(-count) : [];
}

/** The prompt before the input line, and its width: a mark, or text such as that of a search. */
function promptText(
  words: string | undefined,
  isAsking: boolean,
  width: number,
  style: Style,
): { readonly text: string; readonly columns: number } {
  if (words !== undefined && !isAsking) {
    const shown = cutToWidth(words, Math.floor(width / 2));
    return { text: style.cyan(shown), columns: shown.length };
  }
  return { text: isAsking ? style.yellow(ASKING) : style.bold(PROMPT), columns: PROMPT.length };
}
