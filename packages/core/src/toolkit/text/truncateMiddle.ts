import { truncateMiddle as shorten } from "@agent/internal";
import { checkNumber, checkText } from "../hostOptions/checks.js";

/**
 * Shortens `text` to about `maxBytes` of UTF-8, keeping its start and end with a notice between them that states the
 * full size; `hint` is appended to the notice and explains how to get the rest. A text within the limit is returned
 * unchanged.
 *
 * @example
 * ```ts
 * import { truncateMiddle } from "@agent/core/toolkit";
 *
 * console.log(truncateMiddle("short", 1000)); // short
 * const page = truncateMiddle("long ".repeat(10_000), 1000, "Ask for one section.");
 * console.log(page.includes("truncated: 49000 of 50000 bytes left out here. Ask for one section.")); // true
 * ```
 */
export function truncateMiddle(text: string, maxBytes: number, hint?: string): string {
  checkText("text", text);
  checkNumber("maxBytes", maxBytes);
  if (hint !== undefined) checkText("hint", hint);
  return shorten(text, maxBytes, hint);
}
