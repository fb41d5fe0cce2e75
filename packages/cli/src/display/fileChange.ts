import type { Style } from "./style.js";

/** What a call is about to change in a file. */
export interface FileChange {
  /** The lines of a diff without file names; none if there is nothing to show. */
  readonly diff: readonly string[];
  /** Whether the person has read this diff already, in the question about the call. */
  readonly wasShown: boolean;
}

/** `+3 −1`: how many lines a diff adds and removes. */
export function changeCounts(diff: readonly string[], style: Style): string {
  const count = (mark: string): number => diff.filter((line) => line.startsWith(mark)).length;
  const [added, removed] = [count("+"), count("-")];
  return [
    ...(added > 0 ? [style.green(`+${added}`)] : []),
    ...(removed > 0 ? [style.red(`−${removed}`)] : []),
  ].join(" ");
}
