import { escapeInvisible as makeVisible } from "@agent/internal";
import { checkText } from "../hostOptions/checks.js";

/**
 * Makes control and invisible characters visible (`\x1b`, `\u202e`), so that tool output can neither control a terminal
 * nor hide text; keeps tabs and newlines.
 *
 * @example
 * ```ts
 * import { escapeInvisible } from "@agent/core/toolkit";
 *
 * console.log(escapeInvisible("\u001b[31mred")); // \x1b[31mred
 * ```
 */
export function escapeInvisible(text: string): string {
  checkText("text", text);
  return makeVisible(text);
}
