import { formatDuration } from "../text/amounts.js";
import type { Style } from "../text/style.js";
import { cutToWidth } from "../text/width.js";

const SHORTEST_DOING = 8;

/**
 * `working… 1.2s · esc stops`: the current work, its time, and how to interrupt it. If there is no space, the first is
 * shortened.
 */
export function workingRow(
  {
    doing,
    startedAt,
    hint,
  }: {
    readonly doing: string;
    /** Absent if the time is shown elsewhere on the screen. */
    readonly startedAt: number | undefined;
    readonly hint: string;
  },
  width: number,
  style: Style,
): string {
  const time = startedAt === undefined ? "" : ` ${formatDuration(Date.now() - startedAt)}`;
  const tail = `${time} · ${hint}`;
  // Truncated text ends with the same mark.
  const words = cutToWidth(`${doing}…`, Math.max(SHORTEST_DOING, width - tail.length));
  return style.dim(cutToWidth(words + tail, width));
}
