import { withTimeout } from "@agent/internal";

/** The time limit for closing a connection. */
export const CLOSE_WITHIN_MS = 3000;

/** Settles as the promise does, or rejects after the time limit: a connection can die without any event. */
export function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  return withTimeout(promise, ms, () => {
    throw new Error(`${what} did not answer within ${Math.round(ms)} ms.`);
  });
}
