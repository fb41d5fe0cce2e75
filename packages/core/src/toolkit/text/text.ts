import {
  didYouMean as helpWith,
  escapeInvisible as makeVisible,
  quote as quoteText,
  createRedactor as redactorFor,
  truncateMiddle as shorten,
} from "@agent/internal";
import {
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
  invalidArgument,
} from "../hostOptions/checks.js";

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

/**
 * Returns a function that replaces every known secret of at least 8 characters with `[secret]`: verbatim, in any letter
 * case, URL-encoded, JSON-escaped, HTML-escaped, in base64 at any alignment (so also inside `user:key`), or in hex.
 * `secrets` is called for each text, so the list may grow. Redact before shortening a text: half a secret is not
 * recognised.
 *
 * @example
 * ```ts
 * import { createRedactor } from "@agent/core/toolkit";
 *
 * const redact = createRedactor(() => ["s3cret-value"]);
 * console.log(redact("The key is s3cret-value.")); // The key is [secret].
 * ```
 */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  checkFunction("secrets", secrets);
  return redactorFor(secrets);
}

/** Options of a hint. */
export interface HintOptions {
  /** How a name is shown. Default: quoted. */
  readonly show?: (name: string) => string;
  /** The sentence if no name is close. Default: the list of known names. */
  readonly otherwise?: string;
}

/**
 * A hint after an unknown name: `Did you mean "run_bash"?`, or the known names if none is close: `Known: "read_file",
 * "mkdir".`
 *
 * @example
 * ```ts
 * import { didYouMean } from "@agent/core/toolkit";
 *
 * console.log(didYouMean("stagin", ["staging", "production"])); // Did you mean "staging"?
 * ```
 */
export function didYouMean(name: string, known: Iterable<string>, options: HintOptions = {}): string {
  checkText("name", name);
  if (typeof known?.[Symbol.iterator] !== "function") {
    throw invalidArgument("known", "a list of strings", known);
  }
  checkObject("options", options);
  return helpWith(name, known, options);
}
