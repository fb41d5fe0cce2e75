import { abortedError } from "../errors.js";
import { onAbort } from "./onAbort.js";

/**
 * Settles with the promise, or rejects on abort without waiting for it. The work itself is not stopped.
 *
 * @example
 * ```ts
 * import { orAborted } from "@agent/core/toolkit";
 *
 * const never = new Promise<string>(() => undefined);
 * const answer = orAborted(never, AbortSignal.abort());
 * console.log(await answer.catch((error: Error) => error.message)); // Aborted.
 * ```
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(abortedError(signal));
    const release = onAbort(signal, abort);
    if (signal.aborted) abort();
    promise.then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}

/** Creates the AbortSignal on first use: most are never read, and creating one is slow and takes a kilobyte. */
export class LazySignal {
  #controller: AbortController | undefined;
  #fired: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#fired) this.#controller.abort(this.#fired.reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#fired !== undefined;
  }

  abort(reason?: unknown): void {
    this.#fired = { reason };
    this.#controller?.abort(reason);
  }
}

/** A controller that also aborts when `outer` does. Call `release` when the work is done. */
export function linkedController(outer?: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) abort();
  return { controller, release: onAbort(outer, abort) };
}
