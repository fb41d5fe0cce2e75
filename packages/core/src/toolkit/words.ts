import { checkNumber, checkText } from "./checks.js";

/** `1 file`, `2 files`. */
export function countOf(count: number, noun: string): string {
  checkNumber("count", count);
  checkText("noun", noun);
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
