import { describeValue } from "@agent/internal";
import { checkOptions } from "../hostOptions/checkOptions.js";
import { checkBoolean, checkObject, checkText } from "../hostOptions/checks.js";

type Args = Readonly<Record<string, unknown>>;

/**
 * The string argument `name`. Throws if it is missing, not a string, or empty; `allowEmpty` accepts an empty string,
 * such as the content of a file.
 *
 * @example
 * ```ts
 * import { requireString } from "@agent/core/toolkit";
 *
 * const args = { path: "notes.md", content: "" };
 * console.log(requireString(args, "path")); // notes.md
 * console.log(requireString(args, "content", { allowEmpty: true }).length); // 0
 * ```
 */
export function requireString(
  args: Args,
  name: string,
  options: { readonly allowEmpty?: boolean } = {},
): string {
  checkOptions("requireString", options, { allowEmpty: checkBoolean });
  const value = argumentOf(args, name);
  if (typeof value !== "string") throw mismatch(name, "a string", value);
  if (value === "" && options.allowEmpty !== true) {
    throw new Error(`"${name}" must be a non-empty string, got an empty string.`);
  }
  return value;
}

/**
 * The string argument `name`, or `fallback` if it is absent.
 *
 * @example
 * ```ts
 * import { optionalString } from "@agent/core/toolkit";
 *
 * console.log(optionalString({}, "encoding", "utf-8")); // utf-8
 * ```
 */
export function optionalString<T extends string | undefined>(
  args: Args,
  name: string,
  fallback: T,
): string | T {
  return argumentOf(args, name) === undefined ? fallback : requireString(args, name);
}

/**
 * The boolean argument `name`, or `fallback` if it is absent.
 *
 * @example
 * ```ts
 * import { optionalBoolean } from "@agent/core/toolkit";
 *
 * console.log(optionalBoolean({ recursive: true }, "recursive", false)); // true
 * ```
 */
export function optionalBoolean(args: Args, name: string, fallback: boolean): boolean {
  const value = argumentOf(args, name);
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") throw mismatch(name, "true or false", value);
  return value;
}

/**
 * The integer argument `name` within `min`…`max`, or `fallback` if it is absent.
 *
 * @example
 * ```ts
 * import { optionalInteger } from "@agent/core/toolkit";
 *
 * console.log(optionalInteger({ limit: 20 }, "limit", 10, { min: 1, max: 100 })); // 20
 * ```
 */
export function optionalInteger<T extends number | undefined>(
  args: Args,
  name: string,
  fallback: T,
  range: { readonly min?: number; readonly max?: number } = {},
): number | T {
  checkObject("range", range);
  const value = argumentOf(args, name);
  if (value === undefined) return fallback;
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = range;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    const limits = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw mismatch(name, `a whole number ${limits}`, value);
  }
  return value;
}

/**
 * The argument `name` as an array of strings, or `fallback` if it is absent.
 *
 * @example
 * ```ts
 * import { optionalStringArray } from "@agent/core/toolkit";
 *
 * console.log(optionalStringArray({ paths: ["src", "test"] }, "paths", ["."]).join(" ")); // src test
 * ```
 */
export function optionalStringArray<T extends readonly string[] | undefined>(
  args: Args,
  name: string,
  fallback: T,
): string[] | T {
  const value = argumentOf(args, name);
  if (value === undefined) return fallback;
  if (!Array.isArray(value)) throw mismatch(name, "an array of strings", value);
  const wrong = value.findIndex((item) => typeof item !== "string");
  if (wrong !== -1) throw mismatch(`${name}[${wrong}]`, "a string", value[wrong]);
  return value;
}

function argumentOf(args: Args, name: string): unknown {
  checkObject("args", args);
  return args[name];
}

function mismatch(name: string, expected: string, value: unknown): Error {
  checkText("name", name);
  return value === undefined
    ? new Error(`"${name}" is required: ${expected}.`)
    : new Error(`"${name}" must be ${expected}, got ${describeValue(value)}.`);
}
