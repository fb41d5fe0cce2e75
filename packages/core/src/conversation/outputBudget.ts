import { truncateMiddle, utf8Length } from "@agent/internal";

// Until this multiple of the budget has arrived, one result may take the whole budget; later results get an equal share.
const SLACK = 4;

const HINT = "All results of one turn share a budget; ask for less at a time.";

/**
 * The result texts of one tool round, which share a budget: the longest are shortened, short ones stay whole. Memory
 * use and returned text are bounded while results arrive, whatever their number.
 */
export class OutputBudget {
  readonly #maxBytes: number;
  readonly #share: number;
  readonly #texts: string[];
  #arrived = 0;

  constructor(maxBytes: number, results: number) {
    this.#maxBytes = maxBytes;
    this.#share = Math.floor(maxBytes / Math.max(1, results));
    this.#texts = new Array<string>(results).fill("");
  }

  /** Adds a result and returns its current form: it may be shortened further once all have arrived. */
  add(index: number, text: string): string {
    const limit = this.#arrived > this.#maxBytes * SLACK ? this.#share : this.#maxBytes;
    const kept = truncateMiddle(text, limit, HINT);
    this.#texts[index] = kept;
    this.#arrived += utf8Length(kept);
    return kept;
  }

  /** The results as the model gets them, once all calls have ended. */
  texts(): readonly string[] {
    return this.#arrived > this.#maxBytes ? shareOutputBudget(this.#texts, this.#maxBytes) : this.#texts;
  }
}

/**
 * Shortens the longest of several texts so that together they fit `maxBytes`: every text up to the common
 * limit stays whole.
 */
function shareOutputBudget(texts: readonly string[], maxBytes: number): string[] {
  const limit = commonLimit(
    texts.map((text) => utf8Length(text)),
    maxBytes,
  );
  return texts.map((text) => truncateMiddle(text, limit, HINT));
}

/**
 * The size to which the longest texts must shrink so that the sum fits: short ones leave their unused share to the
 * others.
 */
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
