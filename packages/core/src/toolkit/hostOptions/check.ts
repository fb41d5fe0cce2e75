import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkPositive,
  checkRegistry,
  checkText,
} from "./checks.js";

/**
 * Checks for single values that a program passed in. Each throws `invalid_argument` with the name of the value and what
 * was passed instead: `timeoutMs must be a number greater than 0, got string "1s".` Combine them with `checkOptions` to
 * check a whole options object.
 *
 * @example
 * ```ts
 * import { check, errorMessage } from "@agent/core/toolkit";
 *
 * try {
 *   check.positive("timeoutMs", -1);
 * } catch (error) {
 *   console.log(errorMessage(error)); // timeoutMs must be a number greater than 0, got number -1.
 * }
 * ```
 */
export const check = {
  text: checkText,
  number: checkNumber,
  positive: checkPositive,
  boolean: checkBoolean,
  function: checkFunction,
  object: checkObject,
  /** Checks the first argument of a pack's `register`. */
  registry: checkRegistry,
} as const;
