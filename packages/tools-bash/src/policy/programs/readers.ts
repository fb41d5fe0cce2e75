import type { CommandWord } from "../rules.js";

/** Whether a command is one of those that only read. */
export function onlyReads(_words: readonly CommandWord[]): boolean {
  return false;
}
