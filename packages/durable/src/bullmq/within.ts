import { withTimeout } from "@agent/internal";

/** How long a connection is given to end. */
export const CLOSE_WITHIN_MS = 3000;

/** What the promise resolves to, or an error if that takes longer: a connection can die without anybody being told. */
export function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  return withTimeout(promise, ms, () => {
    throw new Error(`${what} did not answer within ${Math.round(ms)} ms.`);
  });
}
