import type { Row, TextQuery } from "../../protocol.js";
import type { TextView } from "./view.js";

/**
 * Collects the matches of one file: counts them all, and turns the first ones into rows with line numbers and context
 * lines. A file arrives as one or more views, each of whole lines, in order.
 */
export class RowCollector {
  readonly rows: Row[] = [];
  matches = 0;
  /** The size of the rows' text. */
  characters = 0;
  #shown = 0;
  /** The number of the line that begins at `#counted`. */
  #line = 1;
  #counted = 0;
  /** The last line in the rows. */
  #lastRow = 0;
  /** The start of the next context line after a match, and how many are still needed. */
  #after = 0;
  #wantedAfter = 0;
  /** The last lines of the previous view, for context that reaches back into it. */
  #carried: string[] = [];
  readonly #context: number;
  readonly #maxLength: number;
  readonly #maxCharacters: number;

  readonly #budget: number;
  readonly #countEveryLine: boolean;

  constructor(
    budget: number,
    query: TextQuery,
    /** Counts lines to the end, for a caller that searches a file in ranges. */
    countEveryLine = false,
  ) {
    this.#budget = budget;
    this.#countEveryLine = countEveryLine;
    this.#context = query.context;
    this.#maxLength = query.maxLineLength;
    this.#maxCharacters = query.maxCharacters;
  }

  /** Line endings so far; complete after `finish` if `countEveryLine` was set. */
  get lines(): number {
    return this.#line - 1;
  }

  /** Whether only the number of matches is still needed. */
  get onlyCounts(): boolean {
    return this.#wantedAfter === 0 && !this.#wantsRows;
  }

  begin(view: TextView): void {
    this.#counted = view.start;
    this.#after = view.start;
  }

  /** Adds a matching line: its start, its end, and the position of the match. */
  match(view: TextView, start: number, end: number, at: number): void {
    this.matches++;
    this.#fillAfter(view, start);
    if (!this.#wantsRows) {
      this.#wantedAfter = 0;
      return;
    }
    this.#line += view.countLines(this.#counted, start);
    this.#counted = start;
    if (this.#context > 0) this.#pushBefore(view, start);
    this.#push(this.#line, view.shown(start, end, at, this.#maxLength), true);
    this.#shown++;
    this.#lastRow = this.#line;
    this.#after = end + 1;
    this.#wantedAfter = this.#context;
  }

  /** Ends a view. Lines are only counted if a later match may still need a number. */
  finish(view: TextView, isLast: boolean): void {
    this.#fillAfter(view, view.end);
    if (this.#countEveryLine || (!isLast && this.#wantsRows)) {
      this.#line += view.countLines(this.#counted, view.end);
      this.#counted = view.end;
    }
    if (this.#context > 0 && !isLast) this.#carried = this.#linesBefore(view, view.end, this.#context);
  }

  get #wantsRows(): boolean {
    return this.#shown < this.#budget && this.characters < this.#maxCharacters;
  }

  #push(line: number, text: string, match: boolean): void {
    this.rows.push({ line, text, match });
    this.characters += text.length;
  }

  #fillAfter(view: TextView, limit: number): void {
    while (this.#wantedAfter > 0 && this.#after < limit) {
      const end = view.lineEnd(this.#after);
      const text = view.shown(this.#after, end, this.#after, this.#maxLength);
      this.#push(++this.#lastRow, text, false);
      this.#after = end + 1;
      this.#wantedAfter--;
    }
  }

  #pushBefore(view: TextView, start: number): void {
    const wanted = Math.min(this.#context, this.#line - 1 - this.#lastRow);
    const texts = this.#linesBefore(view, start, wanted);
    for (const [index, text] of texts.entries()) {
      this.#push(this.#line - texts.length + index, text, false);
    }
  }

  /** Up to `wanted` lines that end before `start`, in order, including lines of the previous view. */
  #linesBefore(view: TextView, start: number, wanted: number): string[] {
    const texts: string[] = [];
    let from = start;
    while (texts.length < wanted && from > view.start) {
      const end = from - 1;
      from = view.lineStart(end);
      texts.unshift(view.shown(from, end, from, this.#maxLength));
    }
    const missing = wanted - texts.length;
    return missing > 0 ? [...this.#carried.slice(-missing), ...texts] : texts;
  }
}
