import { type BlockOptions, expandedLines, type FinishedCall } from "./toolBlock.js";
import { wrapWords } from "./width.js";

const MOST_ENTRIES = 50;
const MOST_UNITS = 4 * 1024 * 1024;

interface Entry {
  readonly units: number;
  readonly lines: (options: BlockOptions) => string[];
}

/** Remembers the last things that were shown in part. Bounded, because a session has no end. */
export class ExpandStore {
  readonly #entries: Entry[] = [];

  add(call: FinishedCall): void {
    this.#push({ units: call.event.text.length, lines: (options) => expandedLines(call, options) });
  }

  /** Text with a heading; its lines must be safe to show. */
  addText(heading: string, text: readonly string[]): void {
    const units = text.reduce((sum, line) => sum + line.length, 0);
    this.#push({
      units,
      lines: ({ style, width }) => [
        style.bold(heading),
        ...text.flatMap((line) => wrapWords(line, width - 2)).map((row) => style.dim(`  ${row}`)),
      ],
    });
  }

  /** The newest that was not expanded yet, ready to be drawn. */
  next(): ((options: BlockOptions) => string[]) | undefined {
    return this.#entries.pop()?.lines;
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    let units = this.#entries.reduce((sum, one) => sum + one.units, 0);
    while (this.#entries.length > MOST_ENTRIES || (units > MOST_UNITS && this.#entries.length > 1)) {
      units -= this.#entries.shift()?.units ?? 0;
    }
  }
}
