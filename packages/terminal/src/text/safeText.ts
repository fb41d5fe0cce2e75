import { relative } from "node:path";
import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine, isInside } from "@agent/internal";

/**
 * Text from a tool, a model or a file as lines that cannot control the terminal. Windows line ends are
 * ordinary ones; any other carriage return is made visible like all control characters.
 */
export function safeLines(text: string): string[] {
  return escapeInvisible(text.includes("\r") ? text.replaceAll("\r\n", "\n") : text).split("\n");
}

/** One line from a tool or a file. Tabs stay: they are drawn as columns. */
export function safeLine(line: string): string {
  return escapeInvisible(line).replaceAll("\n", "\\n");
}

/** A path as it is shown: below the working directory without it. */
export function shownPath(path: string): string {
  const cwd = process.cwd();
  return escapeToLine(isInside(cwd, path) ? relative(cwd, path) || "." : path);
}

// Joins two emoji into one picture: 👩 and 💻 into 👩‍💻.
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/u;

/** Prose from a model: safe to show like any text, and emoji that belong together stay together. */
export function safeProse(text: string): string {
  if (!text.includes("\u200d")) return escapeInvisible(text);
  return text.split(EMOJI_JOINER).map(escapeInvisible).join("\u200d");
}

/** Lines without the blank ones at their start and their end. */
export function trimBlankLines(lines: readonly string[]): string[] {
  let [start, end] = [0, lines.length];
  while (start < end && lines[start] === "") start++;
  while (end > start && lines[end - 1] === "") end--;
  return lines.slice(start, end);
}
