/** A regular expression as a tree, as far as whether it matches depends on it: groups, names and laziness do not. */
export type RegexTree =
  /** One character: a literal, a class, `\d`. */
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly RegexTree[] }
  | { readonly kind: "choice"; readonly branches: readonly RegexTree[] }
  | { readonly kind: "repeat"; readonly part: RegexTree; readonly least: number; readonly most: number };

/** A place in the text rather than a character of it. */
export type Assertion = "^" | "$" | "\\b" | "\\B";

/** A part of an expression that needs more than a memory of fixed size has no tree: a look-around, a reference back. */
export type MaybeTree = RegexTree | undefined;

/** Trees made of trees; one that is missing makes the whole missing. */
export const treeOf = {
  sequence(parts: readonly MaybeTree[]): MaybeTree {
    return parts.every(isKnown) ? { kind: "sequence", parts } : undefined;
  },

  choice(branches: readonly MaybeTree[]): MaybeTree {
    return branches.every(isKnown) ? { kind: "choice", branches } : undefined;
  },

  repeat(part: MaybeTree, least: number, most: number): MaybeTree {
    return part && { kind: "repeat", part, least, most };
  },
};

function isKnown(tree: MaybeTree): tree is RegexTree {
  return tree !== undefined;
}
