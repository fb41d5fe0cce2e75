import { commonness } from "./needle.js";

/** Which strings the matches of a part of an expression contain. */
export interface Required {
  /** The only string it matches, if there is just one. */
  readonly exact: string | undefined;
  /** Every match contains at least one of these. */
  readonly anyOf: readonly string[] | undefined;
}

const MAX_ALTERNATIVES = 8;
/** How common a single character may be to be looked for: it makes the lines it is on candidates. */
const RARE_CHARACTER = 45;
/** The same where candidates cost little. */
const UNCOMMON_CHARACTER = 77;

/** How requirements combine when parts of an expression do. */
export const describeRequired = {
  /** One of several alternatives: a match of any contains what that one requires. */
  oneOf(branches: readonly Required[]): Required {
    const [only] = branches;
    if (branches.length === 1 && only !== undefined) return only;
    const all: string[] = [];
    for (const branch of branches) {
      const strings = candidates(branch);
      if (strings === undefined) return { exact: undefined, anyOf: undefined };
      all.push(...strings);
    }
    const unique = [...new Set(all)];
    return { exact: undefined, anyOf: unique.length > MAX_ALTERNATIVES ? undefined : unique };
  },

  /** One part after the other: neighbouring exact parts join into one string; the best requirement counts. */
  allOf(parts: readonly Required[]): Required {
    if (parts.every((part) => part.exact !== undefined)) {
      return { exact: parts.map((part) => part.exact).join(""), anyOf: undefined };
    }
    let best: readonly string[] | undefined;
    let run = "";
    for (const part of [...parts, undefined]) {
      if (part?.exact !== undefined) {
        run += part.exact;
        continue;
      }
      best = better(best, run === "" ? undefined : [run]);
      best = better(best, part?.anyOf);
      run = "";
    }
    return { exact: undefined, anyOf: best };
  },

  /** At least once: what one round requires. */
  repeated(part: Required): Required {
    return { exact: undefined, anyOf: candidates(part) };
  },
};

/** The strings to look for first, or `undefined` if none would sort out enough lines. */
export function usefulStrings(required: Required, candidatesAreCheap = false): readonly string[] | undefined {
  const limit = candidatesAreCheap ? UNCOMMON_CHARACTER : RARE_CHARACTER;
  const strings = candidates(required);
  if (strings === undefined) return undefined;
  return strings.every((text) => text.length > 1 || commonness(text) < limit) ? strings : undefined;
}

function candidates({ exact, anyOf }: Required): readonly string[] | undefined {
  if (exact === undefined) return anyOf;
  return exact === "" ? undefined : [exact];
}

function better(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return worth(b) > worth(a) ? b : a;
}

/** Long and rare is good, many to look for is bad. */
function worth(strings: readonly string[]): number {
  const weakest = Math.min(...strings.map((text) => Math.min(text.length, 8) * 40 - commonness(text)));
  return weakest - 30 * (strings.length - 1);
}
