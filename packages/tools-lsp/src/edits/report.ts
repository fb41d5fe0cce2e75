import { relative } from "node:path";
import { escapeInvisible, escapeToLine, shorten } from "@agent/core/toolkit";
import type { Diagnostic } from "../protocol/messages.js";

const MAX_MESSAGE = 300;
const SEVERITIES = ["", "error", "warning", "information", "hint"];

/** A path as the model reads it: relative to the base of its own paths, if it is below. */
export function shownPath(path: string, base: string): string {
  const way = relative(base, path);
  return way === "" || way.startsWith("..") ? path : way;
}

/** One line for a diagnostic: `src/a.ts:3: error: Type … (2322)`. Further lines of its message are indented. */
export function diagnosticLine(path: string, { range, severity, code, message }: Diagnostic): string {
  const text = escapeInvisible(
    shorten(message, MAX_MESSAGE)
      .toWellFormed()
      .replace(/\r?\n\s*/g, "\n    "),
  );
  const kind = SEVERITIES[severity] ?? "error";
  const suffix = code === "" ? "" : ` (${escapeInvisible(code.slice(0, 60))})`;
  return `${escapeToLine(path)}:${range.start.line + 1}: ${kind}: ${text}${suffix}`;
}
