import { escapeInvisible } from "./visible.js";

const LONGEST_SHOWN = 60;
// PATH_MAX: a path is quoted in full, because its reader has to open or move the file.
const LONGEST_PATH = 4096;

/**
 * Describes a value, short enough for an error message: `string "abc"`, `array`, `null`, `number 4.5`. Never throws.
 *
 * @example
 * ```ts
 * import { describeValue } from "@agent/core/toolkit";
 *
 * console.log(`path must be a string, got ${describeValue(4.5)}.`); // path must be a string, got number 4.5.
 * ```
 */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (typeof value === "object") return describeObject(value);
  if (typeof value === "string") return value === "" ? "an empty string" : `string ${quote(value)}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${String(value)}`;
  return typeof value;
}

function describeObject(value: object): string {
  try {
    if (!Array.isArray(value)) return "object";
    return value.length === 0 ? "an empty array" : "array";
  } catch {
    // A proxy that throws on inspection is still an object.
    return "object";
  }
}

/** Quotes a text for a one-line message: makes control and invisible characters visible and shortens a long text. */
export function quote(text: string): string {
  return quoteStart(text, LONGEST_SHOWN);
}

/**
 * Like `quote`, for a path, which is never shortened.
 *
 * @example
 * ```ts
 * import { quotePath } from "@agent/core/toolkit";
 *
 * console.log(`There is no file ${quotePath("notes/to do.md")}.`); // There is no file "notes/to do.md".
 * ```
 */
export function quotePath(path: string): string {
  return quoteStart(path, LONGEST_PATH);
}

function quoteStart(text: string, longest: number): string {
  // The cut may fall between the two halves of a character: then the first one goes too.
  const shown = text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return escapeInvisible(JSON.stringify(shown.toWellFormed()));
}

// The whole message when Node's `fetch` fails: the reason is in the cause. Other runtimes put it into the message.
const FETCH_FAILED = "fetch failed";

/** The meaning of the system's connection error codes. */
const CONNECTION_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  EHOSTUNREACH: "that host cannot be reached",
  ENETUNREACH: "that network cannot be reached",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "the name of the host could not be looked up",
  ETIMEDOUT: "no connection in time",
};

/**
 * The message of any thrown value, an Error or not. Never throws, never returns "".
 *
 * @example
 * ```ts
 * import { errorMessage } from "@agent/core/toolkit";
 *
 * try {
 *   throw { message: "disk full" };
 * } catch (error) {
 *   console.log(`Cannot save: ${errorMessage(error)}.`); // Cannot save: disk full.
 * }
 * ```
 */
export function errorMessage(thrown: unknown): string {
  try {
    if (typeof thrown === "object" && thrown !== null) {
      // Read once: a getter may return something else the second time.
      const { message, name } = thrown as { message?: unknown; name?: unknown };
      if (message === FETCH_FAILED) return fetchFailure(thrown);
      if (typeof message === "string" && message !== "") return message;
      if (thrown instanceof Error) return typeof name === "string" && name !== "" ? name : "unknown error";
    }
    if (typeof thrown === "string" && thrown !== "") return thrown;
    if (thrown === undefined || thrown === null || thrown === "") return "unknown error (nothing was thrown)";
    if (typeof thrown === "object") return `unknown error (${JSON.stringify(thrown) ?? typeof thrown})`;
    return String(thrown);
  } catch {
    return "unknown error (the thrown value cannot be read)";
  }
}

function fetchFailure({ cause }: { cause?: unknown }): string {
  if (!(cause instanceof Error)) return FETCH_FAILED;
  // A host with several addresses fails with an AggregateError, which has a code and no message.
  const { code } = cause as { code?: unknown };
  const text = `${FETCH_FAILED}: ${cause.message || (typeof code === "string" ? code : cause.name)}`;
  const isKnown = typeof code === "string" && Object.hasOwn(CONNECTION_PROBLEMS, code);
  return isKnown ? `${text} (${CONNECTION_PROBLEMS[code]})` : text;
}
