import { LONGEST_TIMER_MS } from "@agent/core/toolkit";

// Without this limit a server that reports progress for ever would keep a request open for ever.
const MOST_EXTENSION = 30;

/**
 * A time limit for one request that progress resets and a question to the user suspends. Progress gets a request thirty
 * times its limit in all, and no more. When the time is over, or the caller's own signal aborts, `signal` aborts and what
 * `race` waits for is left alone.
 */
export class CallDeadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #request: string | undefined;
  readonly #onAbort = (): void => this.#stop(new Error("the call was aborted"));
  #leave: (reason: Error) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = performance.now();
  #pausedAt = 0;
  #pauses = 0;

  /** `request` names the request in the message, where it is not the call itself. */
  constructor(milliseconds: number, caller?: AbortSignal, request?: string) {
    this.#milliseconds = milliseconds;
    this.#request = request;
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
    const rest = this.#startedAt + MOST_EXTENSION * this.#milliseconds - performance.now();
    this.#timer = setTimeout(
      () => this.#stop(new Error(this.#tooLate())),
      Math.max(0, Math.min(this.#milliseconds, rest)),
    );
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#pauses--;
    // The time a user takes to answer does not count against the server.
    if (this.#pauses === 0) this.#startedAt += performance.now() - this.#pausedAt;
    this.reset();
  }

  #tooLate(): string {
    const to = this.#request === undefined ? "" : ` to ${this.#request}`;
    return `no answer${to} within ${this.#milliseconds} ms; the request was cancelled`;
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
