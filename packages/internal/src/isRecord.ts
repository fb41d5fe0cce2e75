/** Whether a value is a non-null object that is neither an array nor a function. Class instances count as records. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
