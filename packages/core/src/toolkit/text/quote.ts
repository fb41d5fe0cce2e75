import { quote as quoteText } from "@agent/internal";
import { checkText } from "../hostOptions/checks.js";

/**
 * Quotes a text for a message on one line: control and invisible characters visible, a long text cut.
 *
 * @example
 * ```ts
 * import { quote } from "@agent/core/toolkit";
 *
 * console.log(`There is no note ${quote("to\ndo")}.`); // There is no note "to\ndo".
 * ```
 */
export function quote(text: string): string {
  checkText("text", text);
  return quoteText(text);
}
