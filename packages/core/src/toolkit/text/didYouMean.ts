import { didYouMean as helpWith } from "@agent/internal";
import { checkText, invalidArgument } from "../hostOptions/checks.js";

/**
 * The sentence that helps after an unknown name: `Did you mean "run_bash"?`, or what there is if nothing is close:
 * `Known: "read_file", "mkdir".`
 *
 * @example
 * ```ts
 * import { didYouMean } from "@agent/core/toolkit";
 *
 * console.log(didYouMean("stagin", ["staging", "production"])); // Did you mean "staging"?
 * ```
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  checkText("name", name);
  if (typeof known?.[Symbol.iterator] !== "function") {
    throw invalidArgument("known", "a list of strings", known);
  }
  return helpWith(name, known);
}
