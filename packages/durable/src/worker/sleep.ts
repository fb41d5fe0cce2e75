import { onAbort } from "@agent/core/toolkit";

/** Resolves after so many milliseconds, or as soon as `signal` aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      release();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const release = onAbort(signal, end);
  });
}
