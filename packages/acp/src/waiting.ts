import { onAbort } from "@agent/core/toolkit";

export function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}

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
