import { onAbort } from "@agent/core/toolkit";

/** Resolves as the promise does, or to `undefined` as soon as the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let release = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    release = onAbort(signal, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    release();
  }
}
