import { relative } from "node:path";
import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine, isInside } from "@agent/internal";

/**
 * Converts text from a tool, a model or a file to lines that cannot control the terminal. CRLF is treated as a line
 * ending; any other carriage return is made visible like all control characters.
 */
export function safeLines(text: string): string[] {
  return escapeInvisible(text.includes("\r") ? text.replaceAll("\r\n", "\n") : text).split("\n");
}

/** One line from a tool or a file. Tabs are kept: they are drawn as columns. */
export function safeLine(line: string): string {
  return escapeInvisible(line).replaceAll("\n", "\\n");
}

/** A path for display: relative if it is below the working directory. */
export function shownPath(path: string): string {
  const cwd = process.cwd();
  return escapeToLine(isInside(cwd, path) ? relative(cwd, path) || "." : path);
}

// Joins two emoji into one: 👩 and 💻 into 👩‍💻.
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/u;

/** Prose from a model: safe to display like any text, and joined emoji stay joined. */
export function safeProse(text: string): string {
  if (!text.includes("\u200d")) return escapeInvisible(text);
  return text.split(EMOJI_JOINER).map(escapeInvisible).join("\u200d");
}

/** Removes leading and trailing blank lines. */
export function trimBlankLines(lines: readonly string[]): string[] {
  let [start, end] = [0, lines.length];
  while (start < end && lines[start] === "") start++;
  while (end > start && lines[end - 1] === "") end--;
  return lines.slice(start, end);
}
