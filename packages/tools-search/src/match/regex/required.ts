import { commonness } from "../needles/needle.js";

/** The strings that the matches of a part of an expression contain. */
export interface Required {
  /** The complete list of strings it matches, if there are few. */
  readonly exact: readonly string[] | undefined;
  /** Every match contains at least one of these. */
  readonly anyOf: readonly string[] | undefined;
}

const MAX_ALTERNATIVES = 64;
/** The maximum frequency of a single character to be searched for: it makes its lines candidates. */
const RARE_CHARACTER = 45;
/** The same if candidates are cheap. */
const UNCOMMON_CHARACTER = 77;

/** How requirements combine when parts of an expression do. */
export const describeRequired = {
  /** One of several alternatives: every match contains what its alternative requires. */
  oneOf(branches: readonly Required[]): Required {
    const exact = union(branches.map((branch) => branch.exact));
    if (exact) return { exact, anyOf: undefined };
    const anyOf = union(branches.map(candidates));
    return { exact: undefined, anyOf: anyOf && shortest(anyOf) };
  },

  /** A sequence of parts: neighbouring exact parts join into longer strings; the best requirement is used. */
  allOf(parts: readonly Required[]): Required {
    let best: readonly string[] | undefined;
    let run: readonly string[] = [""];
    let isWhole = true;
    for (const { exact, anyOf } of parts) {
      const joined = exact && union(run.map((start) => exact.map((end) => start + end)));
      if (joined) {
        run = joined;
        continue;
      }
      isWhole = false;
      best = better(better(best, candidates({ exact: run, anyOf: undefined })), anyOf);
      run = exact ?? [""];
    }
    if (isWhole) return { exact: run, anyOf: undefined };
    return { exact: undefined, anyOf: better(best, candidates({ exact: run, anyOf: undefined })) };
  },

  /** At least once: what one repetition requires. */
  repeated(part: Required): Required {
    return { exact: undefined, anyOf: candidates(part) };
  },
};

/** Strings that are sufficient for a match, or `undefined` if there are further conditions. */
export function sufficientStrings({ exact }: Required): readonly string[] | undefined {
  return exact && candidates({ exact, anyOf: undefined });
}

/** The strings to search for first, or `undefined` if none would exclude enough lines. */
export function usefulStrings(required: Required, candidatesAreCheap = false): readonly string[] | undefined {
  const limit = candidatesAreCheap ? UNCOMMON_CHARACTER : RARE_CHARACTER;
  const strings = candidates(required);
  if (strings === undefined) return undefined;
  return strings.every((text) => text.length > 1 || commonness(text) < limit) ? strings : undefined;
}

function candidates({ exact, anyOf }: Required): readonly string[] | undefined {
  if (exact === undefined) return anyOf;
  return exact.includes("") ? undefined : shortest(exact);
}

/** A line with a string that contains another one contains that one, too. */
function shortest(strings: readonly string[]): readonly string[] {
  return strings.filter((text) => !strings.some((other) => other !== text && text.includes(other)));
}

/** All strings of the lists, or `undefined` if a list is not known or there are too many of them. */
function union(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const all = new Set<string>();
  for (const list of lists) {
    if (list === undefined) return undefined;
    for (const text of list) all.add(text);
  }
  return all.size <= MAX_ALTERNATIVES ? [...all] : undefined;
}

function better(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return worth(b) > worth(a) ? b : a;
}

/** Prefers long and rare strings. Several strings cost more than one, but their number hardly matters. */
function worth(strings: readonly string[]): number {
  const weakest = Math.min(...strings.map((text) => Math.min(text.length, 8) * 40 - commonness(text)));
  return weakest - (strings.length > 1 ? 80 + strings.length : 0);
}
