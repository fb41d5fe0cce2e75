import { isRecord as isObject } from "@agent/internal";

/**
 * Whether a value is an object of names and values: neither `null` nor an array nor a function. An instance of a
 * class is one, too.
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
  return isObject(value);
}
