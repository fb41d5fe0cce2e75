import { describeRequired, type Required } from "./required.js";
import { type Assertion, type MaybeTree, treeOf } from "./tree.js";

/** A part of an expression: how to write it again, the strings it requires, and its structure. */
export interface Part {
  /** Valid with and without the `u` flag. */
  readonly source: string;
  /** The same for a text of many lines: it cannot match a line break. */
  readonly line: string;
  readonly required: Required;
  readonly tree: MaybeTree;
}

export const NOTHING: Required = { exact: undefined, anyOf: undefined };

/** "." means every character of the line: a lone carriage return or U+2028 ends none here. */
export const ANY_CHARACTER: Part = characterPart("[^\\n]");

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

export function sequencePart(parts: readonly Part[]): Part {
  return {
    source: parts.map((part) => part.source).join(""),
    line: parts.map((part) => part.line).join(""),
    required: describeRequired.allOf(parts.map((part) => part.required)),
    tree: treeOf.sequence(parts.map((part) => part.tree)),
  };
}

export function choicePart(branches: readonly Part[]): Part {
  return {
    source: branches.map((branch) => branch.source).join("|"),
    line: branches.map((branch) => branch.line).join("|"),
    required: describeRequired.oneOf(branches.map((branch) => branch.required)),
    tree: treeOf.choice(branches.map((branch) => branch.tree)),
  };
}

/** `open` is how the group begins: `(`, `(?:`, `(?<name>`. */
export function groupPart(open: string, inside: Part): Part {
  return { ...inside, source: `${open}${inside.source})`, line: `${open}${inside.line})` };
}

/** `quantifier` is how the repetition is written: `*`, `{2,}?`. */
export function repeatPart(part: Part, quantifier: string, least: number, most: number): Part {
  return {
    source: part.source + quantifier,
    line: part.line + quantifier,
    required: least === 0 ? NOTHING : describeRequired.repeated(part.required),
    tree: treeOf.repeat(part.tree, least, most),
  };
}
