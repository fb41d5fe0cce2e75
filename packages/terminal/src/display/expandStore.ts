import { escapeToLine } from "@agent/internal";
import { wrapWords } from "../text/width.js";
import { type BlockOptions, expandedLines, type FinishedCall } from "./toolBlock.js";

const MOST_ENTRIES = 50;
const MOST_UNITS = 4 * 1024 * 1024;

interface Entry {
  readonly units: number;
  /** What it is about, in a few words that are safe to show. */
  readonly label: string;
  readonly lines: (options: BlockOptions) => string[];
}

/** Remembers the last things that were shown in part. Bounded, because a session has no end. */
export class ExpandStore {
  readonly #entries: Entry[] = [];
  /** How many items, from the newest, were expanded by consecutive calls of `next`. */
  #expanded = 0;

  add(call: FinishedCall): void {
    this.#push({
      units: call.event.text.length,
      label: `${escapeToLine(call.event.name)}  ${call.title}`.trim(),
      lines: (options) => expandedLines(call, options),
    });
  }

  /** Text with a heading; its lines must be safe to show. */
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
   * The newest item, with the next call the one before it, and so on; after the oldest `undefined`, then the newest
   * again.
   */
  next(): ((options: BlockOptions) => string[]) | undefined {
    this.#expanded += 1;
    const entry = this.#entries.at(-this.#expanded);
    if (!entry) this.#expanded = 0;
    return entry?.lines;
  }

  /** What each is about, the newest first. */
  get labels(): readonly string[] {
    return this.#entries.map(({ label }) => label).reverse();
  }

  /** One by its place among the labels. */
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
