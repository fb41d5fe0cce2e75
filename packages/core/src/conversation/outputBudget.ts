import { truncateMiddle } from "../toolkit/truncate.js";

// While results arrive, so much more than the budget may be held before the longest are shortened.
const SLACK = 4;

/** The texts of one round's results, which share a budget: the longest give way, short ones stay whole. */
export class OutputBudget {
  readonly #maxBytes: number;
  readonly #texts: string[] = [];
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes a result and returns it as it stands now: it may become shorter once others arrive. */
  add(index: number, text: string): string {
    this.#texts[index] = truncateMiddle(text, this.#maxBytes, HINT);
    this.#held += Buffer.byteLength(this.#texts[index]);
    if (this.#held > this.#maxBytes * SLACK) this.#share();
    return this.#texts[index];
  }

  /** A result as it is kept, once all have arrived. */
  text(index: number): string {
    if (this.#held > this.#maxBytes) this.#share();
    return this.#texts[index] ?? "";
  }

  #share(): void {
    const shared = shareOutputBudget(this.#texts, this.#maxBytes);
    for (const [index, text] of shared.entries()) this.#texts[index] = text;
    // The notices of what was left out come on top of the budget, so the sum itself would ask for another round.
    this.#held = Math.min(
      this.#maxBytes,
      shared.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    );
  }
}

const HINT = "All results of one turn share a budget; ask for less at a time.";

/**
 * Shortens the longest of several texts so that together they fit `maxBytes`: every text up to the common
 * limit stays whole.
 */
function shareOutputBudget(texts: readonly string[], maxBytes: number): string[] {
  const sizes = Array.from(texts, (text) => Buffer.byteLength(text ?? ""));
  const limit = commonLimit(sizes, maxBytes);
  return Array.from(texts, (text) => truncateMiddle(text ?? "", limit, HINT));
}

/** The size to which the longest must shrink so that the sum of all fits: short ones give their share away. */
function commonLimit(sizes: readonly number[], maxBytes: number): number {
  let left = maxBytes;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return maxBytes;
}
