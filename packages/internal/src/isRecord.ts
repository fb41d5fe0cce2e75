/**
 * Whether a value is an object of names and values: neither `null` nor an array nor a function. An instance of a
 * class is one, too.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
