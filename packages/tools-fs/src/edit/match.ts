import { matchLines } from "./matchLines.js";
import { lineBreakFinder, withLineBreaks } from "./textLines.js";
import { plainTypography } from "./typography.js";

// Every place is held in memory; more than this is work for a program.
const MAX_PLACES = 1_000_000;
const TOO_MANY = `old_text occurs more than ${MAX_PLACES} times; nothing was changed. Make it longer, or use a program for this.`;

/** One place to change: the text from `start` to `end` becomes `replacement`. */
export interface Region {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Where `old_text` was found, and what had to be overlooked to find it. */
export interface Match {
  readonly regions: readonly Region[];
  /** `undefined` for an exact match, else what differs: `trailing blanks`. */
  readonly ignoring: string | undefined;
}

/**
 * Finds every place of `oldText`, with the least tolerance that finds any: exactly, then with the line
 * breaks of the file, then overlooking quotes, trailing blanks, and indentation. Nothing outside the places
 * found is ever touched. Bytes that are not text (`isDecoded` false) must match but for line breaks.
 */
export function findMatch(text: string, oldText: string, newText: string, isDecoded = true): Match {
  const lineBreakAt = lineBreakFinder(text);
  // The replacement takes the line breaks of the place, unless the caller wrote carriage returns on purpose.
  const region = (start: number, length: number, literal: boolean): Region => {
    const eol = literal || !newText.includes("\n") ? undefined : lineBreakAt(start);
    const replacement = eol === undefined ? newText : withLineBreaks(newText, eol);
    return { start, end: start + length, replacement };
  };
  const literal = oldText.includes("\r") || newText.includes("\r");
  const exact = positions(text, oldText);
  if (exact.length > 0) {
    const regions = exact.map((start) => region(start, oldText.length, literal));
    return { regions, ignoring: undefined };
  }
  for (const variant of [withLineBreaks(oldText, "\r\n"), withLineBreaks(oldText, "\n")]) {
    const found = variant === oldText ? [] : positions(text, variant);
    if (found.length === 0) continue;
    const regions = found.map((start) => region(start, variant.length, false));
    return { regions, ignoring: undefined };
  }
  if (!isDecoded) return NONE;
  const plain = positionsOfPlain(text, oldText, lineBreakAt(0) ?? "\n");
  if (plain.length > 0) {
    const regions = plain.map(({ start, length }) => region(start, length, false));
    return { regions, ignoring: "typographic quotes, dashes and spaces" };
  }
  return matchLines(text, oldText, newText) ?? NONE;
}

const NONE: Match = { regions: [], ignoring: undefined };

function positionsOfPlain(text: string, oldText: string, eol: string): { start: number; length: number }[] {
  const wanted = plainTypography(withLineBreaks(oldText, eol));
  return positions(plainTypography(text), wanted).map((start) => ({ start, length: wanted.length }));
}

function positions(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    if (found.push(at) > MAX_PLACES) throw new Error(TOO_MANY);
  }
  return found;
}
