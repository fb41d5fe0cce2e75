import type { Work } from "../work.js";
import { isFoundByTrying } from "./backtrack.js";
import { parsePattern } from "./parse.js";
import { compileProgram } from "./program.js";
import { isFound } from "./simulate.js";
import type { Codes } from "./tree.js";

/** A regular expression that costs at most text times pattern, or with back-references what `Work` allows. */
export interface TextPattern {
  /** Whether a match is anywhere in `text`. Throws `TooMuchWork` when the steps are used up. */
  test(text: string): boolean;
}

/**
 * Compiles an ECMAScript pattern for texts that an attacker may choose: the engine's own matcher can take years for
 * one of thirty characters. Returns `undefined` for what is no regular expression; throws `UnsupportedPattern`.
 */
export function compilePattern(source: string, work: Work): TextPattern | undefined {
  const unicode = [true, false].find((flag) => isValid(source, flag));
  if (unicode === undefined) return undefined;
  const { root, hasReferences } = parsePattern(source, unicode);
  if (hasReferences) return { test: (text) => isFoundByTrying(root, codesOf(text, unicode), work) };
  const program = compileProgram(root);
  return { test: (text) => isFound(program, codesOf(text, unicode), work) };
}

/** Patterns written for other dialects escape more than the "u" flag allows; those are read without it. */
function isValid(source: string, unicode: boolean): boolean {
  try {
    new RegExp(source, unicode ? "u" : "");
    return true;
  } catch {
    return false;
  }
}

function codesOf(text: string, unicode: boolean): Codes {
  const codes = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; length++) {
    const code = unicode ? (text.codePointAt(index) as number) : text.charCodeAt(index);
    codes[length] = code;
    index += code > 0xffff ? 2 : 1;
  }
  return codes.subarray(0, length);
}
