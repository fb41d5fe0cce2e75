const LONGEST_SHOWN = 60;

/** Names what arrived, short enough for an error message: `string "abc"`, `array`, `null`, `number 4.5`. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "array";
  if (typeof value === "string") return value === "" ? "an empty string" : `string ${quote(value)}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${String(value)}`;
  return typeof value;
}

/** Quotes a text for a message on one line: control characters visible, long ones cut. */
export function quote(text: string): string {
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

/** The message of anything that was thrown, an Error or not. Never throws, never returns "". */
export function errorMessage(thrown: unknown): string {
  try {
    if (thrown instanceof Error && typeof thrown.message === "string" && thrown.message !== "") {
      return thrown.message;
    }
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
      const { message } = thrown;
      if (typeof message === "string" && message !== "") return message;
    }
    if (thrown instanceof Error) return thrown.name || "unknown error";
    if (typeof thrown === "string" && thrown !== "") return thrown;
    if (thrown === undefined || thrown === null || thrown === "") return "unknown error (nothing was thrown)";
    if (typeof thrown === "object") return `unknown error (${JSON.stringify(thrown) ?? typeof thrown})`;
    return String(thrown);
  } catch {
    return "unknown error (the thrown value cannot be read)";
  }
}
