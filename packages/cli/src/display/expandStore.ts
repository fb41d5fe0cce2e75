import { type BlockOptions, expandedLines, type FinishedCall } from "./toolBlock.js";

const MOST_CALLS = 20;
const MOST_UNITS = 2 * 1024 * 1024;

/** Remembers the last results that were shown in part. Bounded, because a session has no end. */
export class ExpandStore {
  #calls: FinishedCall[] = [];

  add(call: FinishedCall): void {
    this.#calls.push(call);
    let units = this.#calls.reduce((sum, { event }) => sum + event.text.length, 0);
    while (this.#calls.length > MOST_CALLS || (units > MOST_UNITS && this.#calls.length > 1)) {
      units -= this.#calls.shift()?.event.text.length ?? 0;
    }
  }

  /** The newest that was not expanded yet, ready to be drawn. */
  next(): ((options: BlockOptions) => string[]) | undefined {
    const call = this.#calls.pop();
    return call && ((options) => expandedLines(call, options));
  }
}
