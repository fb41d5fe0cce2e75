import { sep } from "node:path";
import { escapeToLine } from "@agent/core/toolkit";

const LONGEST_SHOWN = 300;
// On systems that separate names with "/", a backslash is part of a name.
const DIRECTORY_END = sep === "/" ? /\/\.{0,2}$/ : /[\\/]\.{0,2}$/;

/** Whether a path can only mean a directory: it ends with "/", "/." or "/..". */
export function namesDirectory(path: string): boolean {
  return DIRECTORY_END.test(path);
}

/** A path for a message: on one line, and shortened in the middle if it is long. */
export function showPath(path: string): string {
  const line = escapeToLine(path);
  if (line.length <= LONGEST_SHOWN) return line;
  return `${line.slice(0, LONGEST_SHOWN - 60)}…${line.slice(-40)}`.toWellFormed();
}
