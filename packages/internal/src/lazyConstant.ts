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
export function lazyConstant<T>(lookUp: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: lookUp() };
    return found.value;
  };
}
