import { didYouMean as helpWith } from "@agent/internal";
import { checkObject, checkText, invalidArgument } from "../hostOptions/checks.js";

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
