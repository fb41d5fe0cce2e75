import { trimBlankLines } from "../text/safeText.js";
import type { OutputLook } from "../text/sgr.js";
import { renderOutput } from "./commandOutput.js";

const KEPT_UNITS = 64 * 1024;
// The length of the tail that is rendered for a running command: it is rendered again with every frame.
const TAIL_UNITS = 8 * 1024;

/** The live output of a running tool, in bounded memory. */
export class LiveOutput {
  #text = "";
  #isWhole = true;

  push(chunk: string): void {
    this.#text += chunk;
    if (this.#text.length <= KEPT_UNITS * 2) return;
    this.#text = this.#text.slice(-KEPT_UNITS);
    this.#isWhole = false;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** Whether nothing was dropped. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The stored output as a terminal would show it, without leading and trailing blank lines. */
  lines(look: OutputLook): string[] {
    return trimBlankLines(renderOutput(fromLineStart(this.#text, this.#isWhole), look));
  }

  /** The last lines, safe to show. */
  tail(count: number, look: OutputLook): string[] {
    if (count === 0) return [];
    const isWhole = this.#isWhole && this.#text.length <= TAIL_UNITS;
    return trimBlankLines(renderOutput(fromLineStart(this.#text.slice(-TAIL_UNITS), isWhole), look)).slice(
      -count,
    );
  }
}

/** Drops the first line of a truncated text: it is incomplete, and may begin inside an escape sequence. */
function fromLineStart(text: string, isWhole: boolean): string {
  if (isWhole) return text;
  const start = text.search(/[\r\n]/);
  return start === -1 ? text : text.slice(start + 1);
}
