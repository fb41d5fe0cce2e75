import type { LineIndex } from "./lineIndex.js";

const MAX_INDEXES = 16;

/** A cache of line indexes for the files read last. An index is dropped when its file changes. */
export class LineIndexes {
  readonly #indexes = new Map<string, { readonly stamp: string; readonly index: LineIndex }>();

  /** The cached index of the file, or a new one from `start`. */
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
