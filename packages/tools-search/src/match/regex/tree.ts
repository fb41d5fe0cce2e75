/** A regular expression as a tree, with only what decides whether it matches: no groups, names or laziness. */
export type RegexTree =
  /** One character: a literal, a class, `\d`. */
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly RegexTree[] }
  | { readonly kind: "choice"; readonly branches: readonly RegexTree[] }
  | { readonly kind: "repeat"; readonly part: RegexTree; readonly least: number; readonly most: number };

/** A position in the text rather than a character. */
export type Assertion = "^" | "$" | "\\b" | "\\B";

/** A part that is not a regular language has no tree: a look-around, a back-reference. */
export type MaybeTree = RegexTree | undefined;

/** A tree with sub-trees; `undefined` if one of them is. */
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
