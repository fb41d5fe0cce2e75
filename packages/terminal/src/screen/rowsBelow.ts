import type { Menu } from "../input/menu.js";
import type { Style } from "../text/style.js";
import { clipRow, cutToWidth } from "../text/width.js";
import { type Status, statusRow } from "./statusRow.js";

const MOST_HINTS = 6;

/** What can be shown below the input line. */
export interface Below {
  readonly menu: Menu | undefined;
  readonly hints: readonly string[];
  readonly status: Status | undefined;
}

/** The rows below the input line: an open list, else hints, else the status. */
export function rowsBelow(
  { menu, hints, status }: Below,
  { width, room }: { readonly width: number; readonly room: number },
  style: Style,
): string[] {
  if (menu) return menu.rows(width, room, style).slice(0, room);
  if (hints.length > 0) {
    const more = hints.length > MOST_HINTS ? [`… ${hints.length - MOST_HINTS} more`] : [];
    const lines = lastOf([...hints.slice(0, MOST_HINTS), ...more], room);
    return lines.map((line) => style.dim(cutToWidth(`  ${line}`, width)));
  }
  return status && room > 0 ? [clipRow(statusRow(status, width, style), width)] : [];
}

/** The last `count` rows, which may be none. */
export function lastOf(rows: readonly string[], count: number): string[] {
  return count > 0 ? rows.slice(-count) : [];
}
