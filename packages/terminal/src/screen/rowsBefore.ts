import { escapeToLine } from "@agent/internal";
import type { ApprovalDialog } from "../approval/approvalDialog.js";
import { workingRow } from "../display/workingRow.js";
import type { Picker } from "../input/picker.js";
import type { Style } from "../text/style.js";
import { cutToWidth } from "../text/width.js";

const LONGEST_QUEUED = 500;

/** The content of the rows above the input line. */
export interface Above {
  readonly dialog: ApprovalDialog | undefined;
  readonly picker: Picker | undefined;
  /** The running turn: its work in a few words, and its start. */
  readonly turn: { readonly doing: string; readonly startedAt: number } | undefined;
  readonly queued: readonly string[];
}

/** The rows above the input line: an open question, else an open list, else the running turn; and queued messages. */
export function rowsBefore({ dialog, picker, turn, queued }: Above, width: number, style: Style): string[] {
  const waiting = queued.map((text) =>
    style.dim(cutToWidth(`  queued: ${escapeToLine(text.slice(0, LONGEST_QUEUED))}`, width)),
  );
  if (dialog) return ["", ...waiting, ...dialog.rows(width, style)];
  if (picker) return ["", cutToWidth(picker.heading, width)];
  if (!turn) return ["", ...waiting];
  return ["", workingRow({ ...turn, hint: "esc stops" }, width, style), ...waiting];
}
