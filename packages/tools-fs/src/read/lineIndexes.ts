import type { LineIndex } from "./lineIndex.js";

const MAX_INDEXES = 16;

/** The indexes of the files read last, each kept as long as its file does not change. */
export class LineIndexes {
  readonly #indexes = new Map<string, { readonly stamp: string; readonly index: LineIndex }>();

  /** The index kept for the file, or the one that `start` makes. */
  get(file: string, stamp: string, start: () => LineIndex): LineIndex {
    const known = this.#indexes.get(file);
    const entry = known?.stamp === stamp ? known : { stamp, index: start() };
    this.#indexes.delete(file);
    this.#indexes.set(file, entry);
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= MAX_INDEXES) break;
      this.#indexes.delete(oldest);
    }
    return entry.index;
  }
}
