import { quote } from "./describe.js";

// Longer names are not typos of each other, and comparing two costs the product of their lengths.
const LONGEST_COMPARED = 100;
// How many known names a message lists.
const MOST_LISTED = 50;

interface HintOptions {
  /** Formats a known name: `--path`, `agent doctor`. It must be safe to display. Default: quoted and escaped. */
  readonly show?: (name: string) => string;
  /** The sentence if no name is close. Default: the list of known names. */
  readonly otherwise?: string;
}

/**
 * A hint after an unknown name: `Did you mean "run_bash"?`, or the known names if none is close: `Known: "read_file",
 * "mkdir".`
 */
export function didYouMean(
  name: string,
  known: Iterable<string>,
  { show = quote, otherwise }: HintOptions = {},
): string {
  const names = [...known];
  const meant = nearestMatch(name, names);
  if (meant !== undefined) return `Did you mean ${show(meant)}?`;
  if (otherwise !== undefined) return otherwise;
  const hidden = names.length - MOST_LISTED;
  const listed = names.slice(0, MOST_LISTED).map(show).join(", ");
  return `Known: ${listed || "none"}${hidden > 0 ? ` (and ${hidden} more)` : ""}.`;
}

/** The candidate most like `name`; `undefined` if none is close. */
export function nearestMatch(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.includes(name)) return name;
  if (name.length > LONGEST_COMPARED) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance with neighbouring swaps counted once; stops at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
      smallest = Math.min(smallest, cost);
    }
    if (smallest >= limit) return limit;
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? limit;
}
