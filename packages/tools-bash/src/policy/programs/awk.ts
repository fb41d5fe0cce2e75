import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, known, skipValue } from "./program.js";

const AWK = /^(g|m|n|original-)?awk$/;
const RUNS = /system|(?<!\|)\|(?!\|)|getline|@/;

/** The program text of awk is its first operand; what follows are files and variables. */
export function readAwk(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!AWK.test(name)) return undefined;
  for (let index = 0; index < words.length; index++) {
    const text = known("awk", words[index]);
    if (/^-[vF]$/.test(text)) skipValue(name, words[++index]);
    else if (/^(-[vF]|--$)/.test(text)) continue;
    else if (text.startsWith("-") || RUNS.test(text)) {
      throw new Unresolvable(`awk may run commands by ${shown(text)}`);
    } else return {};
  }
  return {};
}
