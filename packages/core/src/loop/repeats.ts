import { AgentError } from "../errors.js";

const REPEATS_BEFORE_NOTE = 3;

/** Notices a model that makes the same calls and gets the same results again and again. */
export class RepeatCounter {
  #last = "";
  #count = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a round by its calls and results; from the third time on there is a note for the model. */
  count(signature: string): string | undefined {
    this.#count = signature === this.#last ? this.#count + 1 : 1;
    this.#last = signature;
    if (this.#count < REPEATS_BEFORE_NOTE) return undefined;
    return `[Note: the same call gave the same result ${this.#count} times in a row. Do something else, or answer.]`;
  }

  throwIfStuck(): void {
    if (this.#count < this.#limit) return;
    throw new AgentError(
      "repeated_calls",
      `Stopped: the model made the same tool calls with the same results ${this.#count} times in a row. Rephrase the request, or raise maxRepeats.`,
    );
  }
}
