import { describeValue, isRecord, quote } from "@agent/internal";

/** How deep arguments may be nested. */
export const MAX_ARGUMENT_DEPTH = 256;

/**
 * A deep copy of JSON-like arguments, so that a tool may change them. Throws for values that JSON cannot hold, for
 * values nested too deeply, and for `__proto__`, which only an attacker sends.
 */
export function copyArguments(args: unknown): Record<string, unknown> {
  if (args === undefined) return {};
  if (!isRecord(args)) throw new Error(`the arguments must be an object, got ${describeValue(args)}.`);
  return copyJson(args, 0) as Record<string, unknown>;
}

function copyJson(value: unknown, depth: number): unknown {
  if (
    value === null ||
    value === undefined ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return value;
  }
  if (typeof value !== "object") {
    throw new Error(`the arguments must be JSON values, got ${describeValue(value)}.`);
  }
  if (depth > MAX_ARGUMENT_DEPTH)
    throw new Error(`the arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new Error(`${quote(key)} is not allowed as an argument name.`);
    copy[key] = copyJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return copy;
}
