/** The longest delay of a timer, in milliseconds. Node fires a longer one immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves to the result of `work`, or to that of `onTimeout` if `work` takes longer than `ms`; `onTimeout` may throw
 * instead. Late work continues, and its result is ignored. A time that exceeds the longest delay means no limit.
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

/** Resolves to `undefined` after `ms`. (`node:timers/promises` would add to the cost of importing a package.) */
export function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
