/**
 * A number with its noun: `1 file`, `2 files`.
 *
 * @example
 * ```ts
 * import { countOf } from "@agent/core/toolkit";
 *
 * console.log(`${countOf(2, "line")} in ${countOf(1, "file")}`); // 2 lines in 1 file
 * ```
 */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
