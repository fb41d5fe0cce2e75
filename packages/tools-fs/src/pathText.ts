import { escapeToLine } from "@agent/core/toolkit";

const LONGEST_SHOWN = 300;

/** A path for a message: on one line, and short enough that it does not drown the rest. */
export function showPath(path: string): string {
  const line = escapeToLine(path);
  if (line.length <= LONGEST_SHOWN) return line;
  return `${line.slice(0, LONGEST_SHOWN - 60)}…${line.slice(-40)}`.toWellFormed();
}
