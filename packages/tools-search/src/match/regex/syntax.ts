import type { Required } from "./required.js";
import type { Assertion, MaybeTree } from "./tree.js";

/** A mistake in an expression, with the place it was noticed (counted from 1). */
export class RegexSyntaxError extends Error {
  constructor(
    readonly problem: string,
    readonly position: number,
  ) {
    super(`${problem} at position ${position}`);
  }
}

/** A part of the expression: how to write it again, and the strings it requires. */
export interface Part {
  readonly source: string;
  readonly line: string;
  readonly required: Required;
  readonly tree: MaybeTree;
}

export const NOTHING: Required = { exact: undefined, anyOf: undefined };
export const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  f: "\f",
};
/** The white space of `\s` without the line feed, for use inside a class. */
export const SPACE_ON_A_LINE =
  "\\t\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
export const ON_A_LINE: Readonly<Record<string, string>> = { s: "[^\\S\\n]", W: "[^\\w\\n]", D: "[^\\d\\n]" };
export const OTHER_DIALECTS: Readonly<Record<string, string>> = {
  A: "use ^",
  z: "use $",
  Z: "use $",
  h: "use [ \\t]",
  R: "matches never span lines",
  Q: "escape each character, or search literally",
  G: "leave it out",
};

/** A part that is written as it is and requires nothing: a look-around or a reference back. */
export function verbatim(source: string): Part {
  return { source, line: source, required: NOTHING, tree: undefined };
}

export function assertionPart(assertion: Assertion): Part {
  return { ...verbatim(assertion), tree: { kind: "assertion", assertion } };
}

/** One character of several that it can be, written another way for a text of many lines. */
export function characterPart(source: string, line = source): Part {
  return { source, line, required: NOTHING, tree: { kind: "character", source } };
}

/** A character as it can stand in the source of an expression: control characters as `\xNN`. */
export function printable(character: string): string {
  return character < " " ? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}` : character;
}

/** "." means every character of the line: a lone carriage return or U+2028 ends none here. */
export const ANY_CHARACTER: Part = characterPart("[^\\n]");
