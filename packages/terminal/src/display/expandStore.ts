import { escapeToLine } from "@agent/internal";
import { wrapWords } from "../text/width.js";
import { type BlockOptions, expandedLines, type FinishedCall } from "./toolBlock.js";

const MOST_ENTRIES = 50;
const MOST_UNITS = 4 * 1024 * 1024;

interface Entry {
  readonly units: number;
  /** Its subject, in a few words that are safe to display. */
  readonly label: string;
  readonly lines: (options: BlockOptions) => string[];
}

/** Remembers the last truncated items. Bounded, because a session has no maximum length. */
export class ExpandStore {
  readonly #entries: Entry[] = [];
  /** The number of items, from the newest, expanded by consecutive calls of `next`. */
  #expanded = 0;

  add(call: FinishedCall): void {
    const { texts = [], inner } = call;
    this.#push({
      units: call.event.text.length + JSON.stringify(texts).length + (inner?.units ?? 0),
      label: `${escapeToLine(call.event.name)}  ${call.title}`.trim(),
      lines: (options) => expandedLines(call, options),
    });
  }

  /** Text with a heading; its lines must be safe to display. */
  addText(heading: string, text: readonly string[]): void {
    const units = text.reduce((sum, line) => sum + line.length, 0);
    this.#push({
      units,
      label: heading,
      lines: ({ style, width }) => [
        style.bold(heading),
        ...text.flatMap((line) => wrapWords(line, width - 2)).map((row) => style.dim(`  ${row}`)),
      ],
    });
  }

  /**
   * Returns the newest item, on the next call the one before it, and so on; after the oldest `undefined`, then the
   * newest again.
   */
  next(): ((options: BlockOptions) => string[]) | undefined {
    this.#expanded += 1;
    const entry = this.#entries.at(-this.#expanded);
    if (!entry) this.#expanded = 0;
    return entry?.lines;
  }

  /** The subjects, newest first. */
  get labels(): readonly string[] {
    return this.#entries.map(({ label }) => label).reverse();
  }

  /** An item by its index among the labels. */
  at(place: number): ((options: BlockOptions) => string[]) | undefined {
    return this.#entries.at(-1 - place)?.lines;
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#expanded = 0;
    let units = this.#entries.reduce((sum, one) => sum + one.units, 0);
    while (this.#entries.length > MOST_ENTRIES || (units > MOST_UNITS && this.#entries.length > 1)) {
      units -= this.#entries.shift()?.units ?? 0;
    }
  }
}
