const NEWLINE = 10;

/**
 * The number of newlines from `start` to `end`. Builds no array of lines: a file may have tens of millions.
 *
 * @example
 * ```ts
 * import { newlinesBetween } from "@agent/core/toolkit";
 *
 * const text = "one\ntwo\nthree\n";
 * console.log(`line ${newlinesBetween(text, 0, text.indexOf("three")) + 1}`); // line 3
 * ```
 */
export function newlinesBetween(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === NEWLINE) count++;
  return count;
}

/**
 * The start of the line that contains a position, or of the line `linesBack` lines before it.
 *
 * @example
 * ```ts
 * import { lineStart } from "@agent/core/toolkit";
 *
 * console.log(lineStart("one\ntwo\nthree\n", 6)); // 4
 * console.log(lineStart("one\ntwo\nthree\n", 6, 1)); // 0
 * ```
 */
export function lineStart(text: string, position: number, linesBack = 0): number {
  let start = position;
  for (let line = 0; line <= linesBack; line++) {
    // Step over the line break, to the line before it.
    if (line > 0) start--;
    if (start <= 0) return 0;
    start = text.lastIndexOf("\n", start - 1) + 1;
  }
  return start;
}

/**
 * The start of the line after the one that contains a position, or of the line `linesOn` lines further.
 *
 * @example
 * ```ts
 * import { nextLine } from "@agent/core/toolkit";
 *
 * console.log(nextLine("one\ntwo\nthree\n", 1)); // 4
 * console.log(nextLine("one\ntwo\nthree\n", 1, 1)); // 8
 * ```
 */
export function nextLine(text: string, position: number, linesOn = 0): number {
  let end = position;
  for (let line = 0; line <= linesOn; line++) {
    const newline = text.indexOf("\n", end);
    if (newline === -1) return text.length;
    end = newline + 1;
  }
  return end;
}
