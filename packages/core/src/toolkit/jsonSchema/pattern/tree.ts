/** A parsed regular expression. */
export type Node =
  | { readonly kind: "character"; readonly fits: CharacterTest }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
      /** The capturing groups inside: from this one up to, not including, that one. */
      readonly groups: readonly [from: number, to: number];
    }
  | { readonly kind: "assertion"; readonly holds: Assertion }
  | {
      readonly kind: "look";
      readonly body: Node;
      readonly behind: boolean;
      readonly negative: boolean;
    }
  | { readonly kind: "group"; readonly body: Node; readonly index: number }
  | { readonly kind: "reference"; readonly groups: readonly number[] };

/** Whether one character, given by its code, fits. */
export type CharacterTest = (code: number) => boolean;

/** A text as the codes of its characters. */
export type Codes = ArrayLike<number>;

/** A condition on a position between two characters. */
export type Assertion = (codes: Codes, position: number) => boolean;

export interface Pattern {
  readonly root: Node;
  /** Whether characters are code points (the "u" flag), not UTF-16 units. */
  readonly unicode: boolean;
  readonly hasReferences: boolean;
}
