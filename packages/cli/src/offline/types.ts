/** A tool call the request asks for. */
export interface PlannedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Set if the user asked for a number: what is to be counted. */
  readonly count?: "lines" | "files";
}

/** One step: its calls run together, the next step only after all of them succeeded. */
export type PlannedRound = readonly PlannedCall[];

/** The plan of a request that is understood as a whole, or the reason why it is not. */
export type Plan =
  | { readonly kind: "steps"; readonly steps: readonly PlannedRound[] }
  | { readonly kind: "help" }
  | { readonly kind: "declined"; readonly part: string; readonly hint?: string };

/** A request that is recognised but ambiguous, with a hint how to say it. */
export interface Declined {
  readonly hint: string;
}

/**
 * One form of a sentence. `build` gets the named groups, unquoted; it returns `undefined` if the rule does not apply.
 */
export interface RequestRule {
  readonly pattern: RegExp;
  readonly build: (words: Words) => PlannedRound | PlannedCall | Declined | undefined;
}

export interface Words {
  /** The group without its quotes; "" if it did not take part. */
  get(name: string): string;
  has(name: string): boolean;
  /** Whether the user put the group in quotes: then it is meant literally. */
  quoted(name: string): boolean;
}
