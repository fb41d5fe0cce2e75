import type { TextEvent } from "../events.js";

// For programs that only print text: what came before it is void.
export const STARTS_AGAIN = "\n\n[The answer starts again.]\n\n";

/**
 * The text of one answer as it is written. A request that is repeated sends the text again from its start: what has been
 * reported already is not reported a second time, so that a program that only prints text prints the answer once.
 */
export class AnswerText {
  readonly #emit: (event: TextEvent) => void;
  /** What was reported and still counts, or has not been refuted by the new attempt yet. */
  #shown = "";
  /** The text of the new attempt, while all of it has been reported before. */
  #attempt: string | undefined;

  constructor(emit: (event: TextEvent) => void) {
    this.#emit = emit;
  }

  /** The text that was reported and counts. */
  get shown(): string {
    return this.#shown;
  }

  add(text: string): void {
    if (this.#attempt === undefined) {
      this.#shown += text;
      this.#emit({ type: "text", text });
      return;
    }
    this.#attempt += text;
    if (this.#shown.startsWith(this.#attempt)) return;
    this.#report(this.#attempt);
  }

  /** The request is repeated: its text will come again from the start. */
  restart(): void {
    if (this.#attempt !== undefined || this.#shown !== "") this.#attempt = "";
  }

  /** The answer is complete. */
  end(): void {
    if (this.#attempt !== undefined) this.#report(this.#attempt);
  }

  #report(whole: string): void {
    const text = whole.startsWith(this.#shown) ? whole.slice(this.#shown.length) : `${STARTS_AGAIN}${whole}`;
    this.#attempt = undefined;
    this.#shown = whole;
    this.#emit({ type: "text", text, whole });
  }
}
