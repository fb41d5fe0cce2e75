import { quote as quoteText } from "@agent/internal";
import { checkText } from "../hostOptions/checks.js";

/**
 * Quotes a text for a one-line message: makes control and invisible characters visible and shortens a long text.
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
