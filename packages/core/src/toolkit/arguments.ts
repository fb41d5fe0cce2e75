import { checkObject, checkText } from "./checks.js";
import { describeValue } from "./describe.js";

type Args = Readonly<Record<string, unknown>>;

/** The string argument `name`. Throws if it is missing, not a string, or empty. */
export function requireString(args: Args, name: string): string {
  const value = requireText(args, name);
  if (value === "") throw new Error(`"${name}" must be a non-empty string, got an empty string.`);
  return value;
}

/** The string argument `name`, which may be empty (a file's content, say). */
export function requireText(args: Args, name: string): string {
  const value = argumentOf(args, name);
  if (typeof value !== "string") throw mismatch(name, "a string", value);
  return value;
}

/** The string argument `name`, or `fallback` if it is absent. */
export function optionalString<T extends string | undefined>(
  args: Args,
  name: string,
  fallback: T,
): string | T {
  return argumentOf(args, name) === undefined ? fallback : requireString(args, name);
}

/** The boolean argument `name`, or `fallback` if it is absent. */
export function optionalBoolean(args: Args, name: string, fallback: boolean): boolean {
  const value = argumentOf(args, name);
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") throw mismatch(name, "true or false", value);
  return value;
}

/** The whole-number argument `name` within `min`…`max`, or `fallback` if it is absent. */
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

/** The argument `name` as an array of strings, or `fallback` if it is absent. */
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
