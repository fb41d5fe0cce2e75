/**
 * Whether a value is a non-null object that is neither an array nor a function. Class instances count as records.
 *
 * @example
 * ```ts
 * import { isRecord } from "@agent/core/toolkit";
 *
 * const answer: unknown = JSON.parse('{"title":"Notes"}');
 * if (isRecord(answer) && typeof answer.title === "string") console.log(answer.title); // Notes
 * ```
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
