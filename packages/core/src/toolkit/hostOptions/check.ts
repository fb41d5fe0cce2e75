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
 * Checks of single values that a program passed in. Each throws `invalid_argument` with the name of the value and what
 * came instead: `timeoutMs must be a number greater than 0, got string "1s".` With `checkOptions` they check a whole
 * object of options.
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
