import { safeProse } from "../text/safeText.js";
import { cutToWidth } from "../text/width.js";

const LONGEST = 64 * 1024;

/** The model's reasoning while it is written. */
export class Reasoning {
  readonly startedAt: number;
  #text = "";

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  add(text: string): void {
    if (this.#text.length < LONGEST) this.#text += text;
  }

  /** All of it, safe to show; none if it is blank. */
  get lines(): string[] {
    const text = this.#text.trim();
    return text === "" ? [] : safeProse(text).split("\n");
  }

  /** Its end, on one row. */
  row(width: number): string {
    const line = this.#text.trimEnd().split("\n").at(-1) ?? "";
    const room = Math.max(10, width - 4);
    return cutToWidth(`∴ ${safeProse(line.slice(-room)).replaceAll("\t", " ")}`, width);
  }
}
