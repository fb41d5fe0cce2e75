import { errorMessage as messageOf } from "@agent/internal";

/**
 * The message of any thrown value, an Error or not. Never throws, never returns "".
 *
 * @example
 * ```ts
 * import { errorMessage } from "@agent/core/toolkit";
 *
 * try {
 *   throw { message: "disk full" };
 * } catch (error) {
 *   console.log(`Cannot save: ${errorMessage(error)}.`); // Cannot save: disk full.
 * }
 * ```
 */
export function errorMessage(thrown: unknown): string {
  return messageOf(thrown);
}
