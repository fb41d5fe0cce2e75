/** A tool call the request asks for. */
export interface PlannedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the person asked the number of, where that is the answer. */
  readonly count?: "lines" | "files";
}

/** One step: its calls run together, the next step only after all of them succeeded. */
export type Step = readonly PlannedCall[];

/** What a request means, or that it is not understood: never something in between. */
export type Plan =
  | { readonly kind: "steps"; readonly steps: readonly Step[] }
  | { readonly kind: "help" }
  | { readonly kind: "declined"; readonly part: string; readonly hint?: string };

/** Why a request that looks like one of ours is not carried out, with what to say instead. */
export interface Declined {
  readonly hint: string;
}

/** A way to say something. `build` sees the named groups, unquoted; `undefined` means "not this after all". */
export interface Rule {
  readonly pattern: RegExp;
  readonly build: (words: Words) => Step | PlannedCall | Declined | undefined;
}

export interface Words {
  /** The group without its quotes; "" if it did not take part. */
  get(name: string): string;
  has(name: string): boolean;
  /** Whether the person put the group in quotes: then it is meant literally. */
  quoted(name: string): boolean;
}
