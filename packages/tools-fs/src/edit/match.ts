import { matchLines } from "./matchLines.js";
import { lineBreakFinder, lineBreakVariants, lineStart, withLineBreaks } from "./textLines.js";
import { plainTypography } from "./typography.js";

// Every match is kept in memory, so their number is limited.
const MAX_PLACES = 1_000_000;
const TOO_MANY = `old_text occurs more than ${MAX_PLACES} times; nothing was changed. Make it longer, or use a program for this.`;
// A short argument can become long text by being put in many places. An edit at one place is not limited by this.
const MAX_REPEATED_BYTES = 16 * 1024 * 1024;

/** Counts what the edits of one call produce together, before it is built. Throws above a limit. */
export class EditLimits {
  readonly #sizeOf: (text: string) => number;
  #places = 0;
  #repeated = 0;
  #last = { text: "", size: 0 };

  /** `sizeOf` returns how many bytes a text has in the file. */
  constructor(sizeOf: (text: string) => number) {
    this.#sizeOf = sizeOf;
  }

  addPlace(): void {
    if (++this.#places > MAX_PLACES) throw new Error(TOO_MANY);
  }

  addRepeated(replacement: string): void {
    // Mostly the same string as before, which costs only a comparison.
    if (replacement !== this.#last.text) this.#last = { text: replacement, size: this.#sizeOf(replacement) };
    this.#repeated += this.#last.size;
    if (this.#repeated <= MAX_REPEATED_BYTES) return;
    throw new Error(
      `new_text would be repeated to more than ${MAX_REPEATED_BYTES} bytes; nothing was changed. Make new_text shorter, or old_text longer so that it occurs at fewer places.`,
    );
  }
}

/** One place to change: the text from `start` to `end` becomes `replacement`. */
export interface Region {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Where `old_text` was found, and which differences were ignored to find it. */
export interface Match {
  readonly regions: readonly Region[];
  /** `undefined` for an exact match, else what differs: `trailing blanks`. */
  readonly ignoring: string | undefined;
}

/**
 * Finds every occurrence of `oldText`, with the least tolerance that finds any: exactly, then with any line breaks,
 * then ignoring typographic characters, trailing blanks, indentation, and blanks within lines. Text outside the occurrences is never
 * changed. In bytes that are not text (`isDecoded` false) only line breaks may differ.
 */
export function findMatch(
  text: string,
  oldText: string,
  newText: string,
  isDecoded: boolean,
  limits: EditLimits,
): Match {
  const lineBreakAt = lineBreakFinder(text);
  const withBreaks = lineBreakVariants(newText);
  // The replacement gets the line breaks used at its place, unless the caller looked for carriage returns.
  const region = ({ start, end }: Place, index: number, literal: boolean): Region => {
    const eol = literal || !newText.includes("\n") ? undefined : lineBreakAt(start);
    const replacement = withBreaks(eol);
    if (index > 0) limits.addRepeated(replacement);
    return { start, end, replacement };
  };
  const isLiteral = ({ start, end }: Place): boolean => {
    if (!oldText.includes("\r")) return false;
    return end - start === oldText.length && text.startsWith(oldText, start);
  };
  const exact = oldText.includes("\r") ? placesOf(text, oldText, limits) : [];
  const found = exact.length > 0 ? exact : placesByLine(text, oldText, limits);
  if (found.length > 0 && isDecoded && /^[ \t]/.test(oldText) && found.every(startsInIndent(text))) {
    // The end of a line's indentation is not the indentation that the caller meant.
    const lines = matchLines(text, oldText, newText, limits);
    if (lines) return lines;
  }
  if (found.length > 0) {
    return {
      regions: found.map((place, index) => region(place, index, isLiteral(place))),
      ignoring: undefined,
    };
  }
  if (!isDecoded) return NONE;
  const plain = placesByLine(plainTypography(text), plainTypography(oldText), limits);
  if (plain.length > 0) {
    const regions = plain.map((place, index) => region(place, index, false));
    return { regions, ignoring: "typographic quotes, dashes and spaces" };
  }
  return matchLines(text, oldText, newText, limits) ?? NONE;
}

/** Whether a place starts within the indentation of its line. */
function startsInIndent(text: string): (place: Place) => boolean {
  return ({ start }) =>
    /[ \t]/.test(text[start - 1] ?? "") && text.slice(lineStart(text, start), start).trim() === "";
}

const NONE: Match = { regions: [], ignoring: undefined };

type Place = Omit<Region, "replacement">;

function placesOf(text: string, wanted: string, limits: EditLimits): Place[] {
  const found: Place[] = [];
  for (let start = text.indexOf(wanted); start !== -1; ) {
    const end = start + wanted.length;
    limits.addPlace();
    found.push({ start, end });
    start = text.indexOf(wanted, end);
  }
  return found;
}

/** Finds `wanted` as if every line break were "\n". A place never begins or ends in the middle of a CRLF. */
function placesByLine(text: string, wanted: string, limits: EditLimits): Place[] {
  const plain = withLineBreaks(wanted, "\n");
  if (!plain.includes("\n") || !text.includes("\r\n")) return placesOf(text, plain, limits);
  const original = originalPositions(text);
  return placesOf(text.replaceAll("\r\n", "\n"), plain, limits).map(({ start, end }) => ({
    start: original(start),
    end: original(end),
  }));
}

/** Maps positions in the text with "\n" for each CRLF back to the original text. Call it with ascending positions. */
function originalPositions(text: string): (position: number) => number {
  let [returns, next] = [0, text.indexOf("\r\n")];
  return (position) => {
    while (next !== -1 && next - returns < position) {
      returns++;
      next = text.indexOf("\r\n", next + 2);
    }
    return position + returns;
  };
}
