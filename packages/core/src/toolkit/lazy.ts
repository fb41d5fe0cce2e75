import * as shared from "@agent/internal";

/**
 * Computes a constant of this process on first use.
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

/**
 * Loads a Node module on first use. A pack that imports `node:child_process` makes every start of an agent pay for it
 * (4 ms), used or not. In a runtime without the module, its first use throws.
 *
 * @example
 * ```ts
 * import { nodeModule } from "@agent/core/toolkit";
 *
 * const path = nodeModule<typeof import("node:path")>("node:path");
 * console.log(path.basename("a/b.txt")); // b.txt
 * ```
 */
export function nodeModule<T extends object>(name: string): T {
  return shared.nodeModule<T>(name, (missing) => new Error(`This runtime has no ${missing}.`));
}
