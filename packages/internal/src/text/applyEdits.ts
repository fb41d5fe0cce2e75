import { isRecord } from "../isRecord.js";

/** One replacement of a text by another; of every occurrence if `all` is set. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

// A model chooses the edits. Beyond these a preview would cost more time or memory than it is worth.
const MOST_SCANNED = 2 ** 28;
const MOST_PLACES = 100_000;

/**
 * The text with all edits made, each found in the text as it was. `undefined` where one is not found, is not the only
 * one, overlaps another, or the result would be longer than `longest` characters.
 */
export function applyEdits(text: string, edits: readonly TextEdit[], longest: number): string | undefined {
  if (text.length * edits.length > MOST_SCANNED) return undefined;
  const places: Place[] = [];
  let length = text.length;
  for (const { oldText, newText, all } of edits) {
    let start = oldText === "" ? -1 : text.indexOf(oldText);
    if (start === -1) return undefined;
    while (start !== -1) {
      const end = start + oldText.length;
      places.push({ start, end, newText });
      length += newText.length - oldText.length;
      if (places.length > MOST_PLACES || length > longest) return undefined;
      start = text.indexOf(oldText, end);
      if (start !== -1 && !all) return undefined;
    }
  }
  places.sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, newText } of places) {
    if (start < at) return undefined;
    pieces.push(text.slice(at, start), newText);
    at = end;
  }
  return pieces.join("") + text.slice(at);
}

/** The edits that a call names: one by its own arguments, several in `edits`. */
export function editsOf(args: Readonly<Record<string, unknown>>): TextEdit[] {
  const several: unknown[] = Array.isArray(args.edits) ? args.edits : [];
  return [args, ...several].flatMap((edit) => {
    if (!isRecord(edit)) return [];
    const { old_text: oldText, new_text: newText, replace_all: all } = edit;
    if (typeof oldText !== "string" || typeof newText !== "string" || oldText === "") return [];
    return [{ oldText, newText, all: all === true }];
  });
}
