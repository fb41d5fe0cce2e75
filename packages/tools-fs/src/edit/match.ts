import { matchLines } from "./matchLines.js";
import { lineBreakAt, withLineBreaks } from "./textLines.js";
import { plainTypography } from "./typography.js";

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
  const literal = oldText.includes("\r") || newText.includes("\r");
  const exact = positions(text, oldText);
  if (exact.length > 0) {
    const regions = exact.map((start) => region(text, start, oldText.length, newText, literal));
    return { regions, ignoring: undefined };
  }
  for (const variant of [withLineBreaks(oldText, "\r\n"), withLineBreaks(oldText, "\n")]) {
    const found = variant === oldText ? [] : positions(text, variant);
    if (found.length === 0) continue;
    const regions = found.map((start) => region(text, start, variant.length, newText, false));
    return { regions, ignoring: undefined };
  }
  if (!isDecoded) return NONE;
  return matchTypography(text, oldText, newText) ?? matchLines(text, oldText, newText) ?? NONE;
}

const NONE: Match = { regions: [], ignoring: undefined };

function matchTypography(text: string, oldText: string, newText: string): Match | undefined {
  const plain = plainTypography(text);
  const wanted = plainTypography(withLineBreaks(oldText, lineBreakAt(text, 0, 0) ?? "\n"));
  const found = positions(plain, wanted);
  if (found.length === 0) return undefined;
  const regions = found.map((start) => region(text, start, wanted.length, newText, false));
  return { regions, ignoring: "typographic quotes, dashes and spaces" };
}

function positions(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    found.push(at);
  return found;
}

/** The replacement takes the line breaks of the place, unless the caller wrote carriage returns on purpose. */
function region(text: string, start: number, length: number, newText: string, literal: boolean): Region {
  const end = start + length;
  const eol = literal ? undefined : lineBreakAt(text, start, end);
  return { start, end, replacement: eol === undefined ? newText : withLineBreaks(newText, eol) };
}
