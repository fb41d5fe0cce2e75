import { safeLines } from "./safeText.js";

const KEPT_UNITS = 4096;

/** The end of what a running tool prints. Holds a few kilobytes whatever arrives. */
export class OutputTail {
  #text = "";

  push(chunk: string): void {
    this.#text = (this.#text + chunk.slice(-KEPT_UNITS)).slice(-KEPT_UNITS);
  }

  /** The last lines that are not blank at the end, safe to show. */
  lines(count: number): string[] {
    const text = this.#text.trimEnd();
    return text === "" || count === 0 ? [] : safeLines(text).slice(-count);
  }
}
