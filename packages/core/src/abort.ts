import { AgentError } from "./errors.js";

/** The error every aborted operation of the core rejects with. */
export function abortedError(signal: AbortSignal): AgentError {
  return new AgentError("aborted", "Aborted.", { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}

/** The promise's result, or an `aborted` error as soon as the signal fires: nobody is waited for. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A controller that also aborts when `outer` does. Call `release` when the work is over. */
export function linkedController(outer?: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  return { controller, release: () => outer?.removeEventListener("abort", onAbort) };
}
