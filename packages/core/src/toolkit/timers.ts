import * as shared from "@agent/internal";

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
export const LONGEST_TIMER_MS = shared.LONGEST_TIMER_MS;

/**
 * Resolves to the result of `work`, or to that of `onTimeout` if it takes longer than `ms`; `onTimeout` may throw instead. The
 * work itself is not stopped.
 *
 * @example
 * ```ts
 * import { withTimeout } from "@agent/core/toolkit";
 *
 * const never = new Promise<string>(() => undefined);
 * console.log(await withTimeout(never, 10, () => "too late")); // too late
 * ```
 */
export const withTimeout = shared.withTimeout;

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
export const delay = shared.delay;
