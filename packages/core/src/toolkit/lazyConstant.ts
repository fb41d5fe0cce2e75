import * as shared from "@agent/internal";

/**
 * A constant of this process that is looked up when it is first needed, and never again.
 *
 * @example
 * ```ts
 * import { lazyConstant } from "@agent/core/toolkit";
 *
 * const started = lazyConstant(() => new Date());
 * console.log(started() === started()); // true
 * ```
 */
export const lazyConstant = shared.lazyConstant;
