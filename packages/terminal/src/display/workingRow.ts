import { formatDuration } from "../text/amounts.js";
import type { Style } from "../text/style.js";
import { cutToWidth } from "../text/width.js";

const SHORTEST_DOING = 8;

/**
 * `working… 1.2s · esc stops`: the current work, its time, and how to stop it. If there is no room, the first is
 * shortened.
 */
export function workingRow(
  {
    doing,
    startedAt,
    hint,
  }: {
    readonly doing: string;
    /** Absent where something else on the screen shows the time. */
    readonly startedAt: number | undefined;
    readonly hint: string;
  },
  width: number,
  style: Style,
): string {
  const time = startedAt === undefined ? "" : ` ${formatDuration(Date.now() - startedAt)}`;
  const tail = `${time} · ${hint}`;
  // Words that are cut end with the same mark.
  const words = cutToWidth(`${doing}…`, Math.max(SHORTEST_DOING, width - tail.length));
  return style.dim(cutToWidth(words + tail, width));
}
