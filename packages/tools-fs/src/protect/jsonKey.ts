import { isRecord } from "@agent/core/toolkit";

/** The value of a top-level key of a JSON text, as text to compare; `undefined` if there is none. */
export function jsonKey(text: string | undefined, key: string): string | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(value) && Object.hasOwn(value, key) ? JSON.stringify(value[key]) : undefined;
  } catch {
    // The text is not JSON, so no program reads the key from it.
    return undefined;
  }
}
