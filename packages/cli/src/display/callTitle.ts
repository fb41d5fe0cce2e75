import { escapeToLine, isRecord } from "@agent/internal";

// Arguments that say what a call is about, in the order tried; without one of these the first argument is shown.
const SUBJECTS = ["command", "path", "query", "pattern", "source", "url", "name"];
/** Arguments with text for a file, which a diff shows better. */
export const FILE_TEXTS: readonly string[] = ["content", "old_text", "new_text", "edits"];
const LONGEST_SUBJECT = 500;
const LONGEST_DETAIL = 40;
const MOST_DETAILS = 8;

/** A call's arguments on one line: what it is about first, the others by name and shortened. */
export function callTitle(args: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(args);
  const subject = SUBJECTS.find((key) => typeof args[key] === "string") ?? keys[0];
  if (subject === undefined) return "";
  const details = keys
    .filter((key) => key !== subject && args[key] !== undefined)
    .filter((key) => subject !== "path" || !FILE_TEXTS.includes(key))
    .slice(0, MOST_DETAILS)
    .map((key) => `${escapeToLine(shorten(key, LONGEST_DETAIL))}=${asLine(args[key], LONGEST_DETAIL)}`);
  return [asLine(args[subject], LONGEST_SUBJECT), ...details].join("  ");
}

function asLine(value: unknown, longest: number): string {
  return escapeToLine(shorten(asText(value), longest));
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return JSON.stringify(value) ?? String(value);
}

function shorten(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** The arguments of a call as the conversation keeps them: JSON, or what a model wrote instead. */
export function readArguments(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
