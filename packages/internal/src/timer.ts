/**
 * The longest delay of a timer, in milliseconds. Node fires a longer one immediately.
 *
 * @example
 * ```ts
 * import { LONGEST_TIMER_MS } from "@agent/core/toolkit";
 *
 * console.log(Math.min(Number.MAX_SAFE_INTEGER, LONGEST_TIMER_MS)); // 2147483647
 * ```
 */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves to the result of `work`, or to that of `onTimeout` if `work` takes longer than `ms`; `onTimeout` may throw
 * instead. Late work continues, and its result is ignored. A time that exceeds the longest delay means no limit.
 *
 * @example
 * ```ts
 * import { withTimeout } from "@agent/core/toolkit";
 *
 * const never = new Promise<string>(() => undefined);
 * console.log(await withTimeout(never, 10, () => "too late")); // too late
 * ```
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  if (ms > LONGEST_TIMER_MS) return await work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, late.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves to `undefined` after a number of milliseconds.
 *
 * @example
 * ```ts
 * import { delay } from "@agent/core/toolkit";
 *
 * console.log(await delay(1)); // undefined
 * ```
 */
export function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
