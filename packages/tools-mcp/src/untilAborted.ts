import { onAbort } from "@agent/core/toolkit";

/** Rejects on abort without waiting for `promise`, which continues. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  promise.catch(() => undefined);
  let release = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error("the call was aborted"));
    if (signal.aborted) stop();
    else release = onAbort(signal, stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    release();
  }
}
