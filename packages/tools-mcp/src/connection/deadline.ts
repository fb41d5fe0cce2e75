import { LONGEST_TIMER_MS } from "@agent/internal";

/**
 * A time limit for one request that progress resets and a question to the person suspends. When the time is over, or the
 * caller's own signal aborts, `signal` aborts and what `race` waits for is left alone.
 */
export class CallDeadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#stop(new Error("the call was aborted"));
  #leave: (reason: Error) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;

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

  /** Settles as `work` does, or rejects at the abort without waiting for it. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#leave = reject;
      if (this.signal.aborted) reject(this.signal.reason);
      work.then(resolve, reject);
    });
  }

  reset(): void {
    clearTimeout(this.#timer);
    if (this.#pauses > 0 || this.#milliseconds > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(() => {
      this.#stop(new Error(`no answer within ${this.#milliseconds} ms; the request was cancelled`));
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

  #stop(reason: Error): void {
    this.#controller.abort(reason);
    this.#leave(reason);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
