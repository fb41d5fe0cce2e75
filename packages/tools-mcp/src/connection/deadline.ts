import { LONGEST_TIMER_MS } from "@agent/internal";

/**
 * A time limit for one call that progress resets and a question to the person suspends. `signal` aborts when the
 * time is over or when the caller's own signal does.
 */
export class CallDeadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#controller.abort(this.#caller?.reason);
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #isOver = false;

  constructor(milliseconds: number, caller?: AbortSignal) {
    this.#milliseconds = milliseconds;
    this.#caller = caller;
    if (caller?.aborted) this.#onAbort();
    caller?.addEventListener("abort", this.#onAbort, { once: true });
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time ran out, as opposed to an abort by the caller. */
  get isOver(): boolean {
    return this.#isOver;
  }

  reset(): void {
    clearTimeout(this.#timer);
    if (this.#pauses > 0 || this.#milliseconds > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort(new Error(`no answer within ${this.#milliseconds} ms`));
    }, this.#milliseconds);
  }

  pause(): void {
    this.#pauses++;
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#pauses--;
    this.reset();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
