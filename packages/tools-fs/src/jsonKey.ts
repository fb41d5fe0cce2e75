/** The value of a top-level key of a JSON text, as text to compare; `undefined` if there is none. */
export function jsonKey(text: string | undefined, key: string): string | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    return JSON.stringify((value as Record<string, unknown>)[key]);
  } catch {
    // Not JSON: no program will act on it either.
    return undefined;
  }
}
