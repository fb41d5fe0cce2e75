import { LONGEST_TIMER_MS } from "@agent/internal";

// A server that reports progress for ever would otherwise never be given up.
const MOST_EXTENSION = 30;

/**
 * A time limit for one call that progress resets and a question to the person suspends. Progress gets a call thirty
 * times its limit in all, and no more. `signal` aborts when the time is over or when the caller's own signal does.
 */
export class CallDeadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#controller.abort(this.#caller?.reason);
  #timer: NodeJS.Timeout | undefined;
  #startedAt = performance.now();
  #pausedAt = 0;
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
    const rest = this.#startedAt + MOST_EXTENSION * this.#milliseconds - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#isOver = true;
        this.#controller.abort(new Error(`no answer within ${this.#milliseconds} ms`));
      },
      Math.max(0, Math.min(this.#milliseconds, rest)),
    );
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#pauses--;
    // The time of a person is not the server's.
    if (this.#pauses === 0) this.#startedAt += performance.now() - this.#pausedAt;
    this.reset();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
