import { quote } from "@agent/core/toolkit";

const MAX_PATTERN_LENGTH = 4096;
const MAX_EXPANSIONS = 2000;

/** Refuses a glob that would expand into too many patterns. `argument` is named in the error. */
export function checkGlob(pattern: string, argument: string): void {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(
      `"${argument}" has ${pattern.length} characters; a glob may have ${MAX_PATTERN_LENGTH}. Use a simpler one.`,
    );
  }
  if (pattern.includes("\0")) throw new Error(`"${argument}" ${quote(pattern)} contains a NUL character.`);
  const expansions = countExpansions(pattern);
  if (expansions > MAX_EXPANSIONS) {
    throw new Error(
      `"${argument}" ${quote(pattern)} expands to ${expansions.toLocaleString("en-US")} patterns; at most ${MAX_EXPANSIONS} are allowed. Use * instead of braces.`,
    );
  }
}

/** The number of patterns that the braces of a glob expand to: a product of sums. */
export function countExpansions(pattern: string): number {
  // One frame for each open brace: the sum of finished alternatives and the product of the current one.
  const stack = [{ sum: 0, product: 1, start: 0, commas: 0 }];
  for (let at = 0; at < pattern.length; at++) {
    const top = stack.at(-1);
    if (top === undefined) break;
    const character = pattern[at];
    if (character === "\\") at++;
    else if (character === "{") stack.push({ sum: 0, product: 1, start: at + 1, commas: 0 });
    else if (character === "," && stack.length > 1) {
      top.sum += top.product;
      top.product = 1;
      top.commas++;
    } else if (character === "}" && stack.length > 1) {
      stack.pop();
      const outer = stack.at(-1);
      const size =
        top.commas > 0 ? top.sum + top.product : top.product * rangeSize(pattern.slice(top.start, at));
      if (outer) outer.product *= size;
    }
  }
  return stack.reduce((total, frame) => total * (frame.sum + frame.product), 1);
}

/** `1..9`, `a..z`, `0..100..5`. */
function rangeSize(content: string): number {
  const [, first, last, step] = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(content) ?? [];
  if (first === undefined || last === undefined) return 1;
  const value = (end: string): number => (/\d/.test(end) ? Number(end) : end.charCodeAt(0));
  return Math.floor(Math.abs(value(last) - value(first)) / Math.max(1, Math.abs(Number(step ?? 1)))) + 1;
}
