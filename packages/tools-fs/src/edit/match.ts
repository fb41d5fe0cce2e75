import { lineStart, newlinesBetween, type TextEdit } from "@agent/core/toolkit";
import { indentMap, reindent } from "./indentation.js";
import { type Line, lineBreakFinder, lineBreakVariants, linesOf, withLineBreaks } from "./textLines.js";
import { plainTypography } from "./typography.js";

// Every match is kept in memory, so their number is limited.
const MAX_PLACES = 1_000_000;
const TOO_MANY = `old_text occurs more than ${MAX_PLACES} times; nothing was changed. Make it longer, or use a program for this.`;
// A short argument can become long text by being inserted in many places. An edit at one place is not limited by this.
const MAX_REPEATED_BYTES = 16 * 1024 * 1024;

/** Counts the combined output size of all edits of a call before it is built. Throws above a limit. */
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
    // Usually the same string as before, which costs only a comparison.
    if (replacement !== this.#last.text) this.#last = { text: replacement, size: this.#sizeOf(replacement) };
    this.#repeated += this.#last.size;
    if (this.#repeated <= MAX_REPEATED_BYTES) return;
    throw new Error(
      `new_text would be repeated to more than ${MAX_REPEATED_BYTES} bytes; nothing was changed. Make new_text shorter, or old_text longer so that it occurs at fewer places.`,
    );
  }
}

/** Where `old_text` was found, and which differences were ignored to find it. */
export interface Match {
  readonly regions: readonly TextEdit[];
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
  // The replacement gets the line endings used at its place, unless they are what the edit changes.
  const changesBreaks =
    /\r(?!\n)/.test(oldText) || withLineBreaks(oldText, "\n") === withLineBreaks(newText, "\n");
  const region = ({ start, end }: Place, index: number, literal: boolean): TextEdit => {
    const eol = literal || !newText.includes("\n") ? undefined : lineBreakAt(start);
    const replacement = withBreaks(eol);
    if (index > 0) limits.addRepeated(replacement);
    return { start, end, replacement };
  };
  const isLiteral = ({ start, end }: Place): boolean => {
    if (!oldText.includes("\r") || !changesBreaks) return false;
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

/** Whether a match starts within the indentation of its line. */
function startsInIndent(text: string): (place: Place) => boolean {
  return ({ start }) =>
    /[ \t]/.test(text[start - 1] ?? "") && text.slice(lineStart(text, start), start).trim() === "";
}

const NONE: Match = { regions: [], ignoring: undefined };

type Place = Omit<TextEdit, "replacement">;

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

/** Finds `wanted` as if every line ending were "\n". A match never begins or ends in the middle of a CRLF. */
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

// Each new line is compared with each line of the old text to find blanks for it.
const MAX_SIMILAR = 200;
// Every line is kept in memory several times, so their number is limited.
const MAX_LINES = 500_000;

/**
 * Finds whole lines that differ from `oldText` only in trailing blanks or, if there are none, only in indentation, or
 * else only in blanks.
 */
function matchLines(text: string, oldText: string, newText: string, limits: EditLimits): Match | undefined {
  const wanted = oldText.split(/\r?\n/);
  const closed = wanted.length > 1 && wanted.at(-1) === "";
  if (closed) wanted.pop();
  // Blank lines alone match everywhere, so they do not identify a place.
  if (wanted.every((line) => line.trim() === "")) return undefined;
  if (newlinesBetween(text, 0, text.length) > MAX_LINES) return undefined;
  const lines = linesOf(text);
  const content = lines.map((line) => plainTypography(text.slice(line.start, line.end)));
  const find = (simplify: (line: string) => string): number[] => {
    return runs(
      content.map(simplify),
      wanted.map((line) => simplify(plainTypography(line))),
    );
  };
  const linesAt = (first: number): string[] =>
    lines.slice(first, first + wanted.length).map(({ start, end }) => text.slice(start, end));
  const lineBreakAt = lineBreakFinder(text);
  let firstPlace: number | undefined;
  const place = (first: number, withBreaks: (eol: string | undefined) => string): TextEdit => {
    const { start, end } = spanOf(lines, first, wanted.length, closed);
    const replacement = withBreaks(lineBreakAt(start));
    limits.addPlace();
    firstPlace ??= first;
    if (first !== firstPlace) limits.addRepeated(replacement);
    return { start, end, replacement };
  };

  const trailing = find((line) => line.trimEnd()).map((first) =>
    place(first, lineBreakVariants(keepLines(newText, wanted, linesAt(first), trimEnd))),
  );
  if (trailing.length > 0) return { regions: trailing, ignoring: "trailing blanks" };
  const fitted = (simplify: (line: string) => string, change?: LineChange): TextEdit[] =>
    find(simplify === trimEnd ? (line) => line.trim() : simplify).flatMap((first) => {
      const actual = linesAt(first);
      const indents = indentMap(wanted, actual);
      if (!indents) return [];
      const inFile = wanted.map((line) => reindent(line, indents, text));
      const replacement = keepLines(reindent(newText, indents, text), inFile, actual, simplify, change);
      return [place(first, lineBreakVariants(replacement))];
    });
  const indented = fitted(trimEnd);
  if (indented.length > 0) return { regions: indented, ignoring: "indentation" };
  const spaced = fitted(withoutSpacing, spaceLike);
  return spaced.length > 0 ? { regions: spaced, ignoring: "blanks within lines" } : undefined;
}

/**
 * The indexes at which `wanted` occurs in `lines` as a block; of overlapping blocks only the first counts. Linear time
 * even if all lines are the same (Knuth-Morris-Pratt).
 */
function runs(lines: readonly string[], wanted: readonly string[]): number[] {
  const fallback = fallbacks(wanted);
  const found: number[] = [];
  let matched = 0;
  for (const [index, line] of lines.entries()) {
    while (matched > 0 && line !== wanted[matched]) matched = fallback[matched] ?? 0;
    if (line === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    found.push(index + 1 - matched);
    matched = 0;
  }
  return found;
}

/** The failure table of Knuth-Morris-Pratt: for each prefix, the length of its longest border. */
function fallbacks(wanted: readonly string[]): number[] {
  const fallback = [0, 0];
  let matched = 0;
  for (const line of wanted.slice(1)) {
    while (matched > 0 && line !== wanted[matched]) matched = fallback[matched] ?? 0;
    if (line === wanted[matched]) matched++;
    fallback.push(matched);
  }
  return fallback;
}

/** The span of `count` lines; it includes the last line ending if the block is closed. */
function spanOf(lines: readonly Line[], first: number, count: number, closed: boolean): Omit<Line, "next"> {
  const last = lines[first + count - 1];
  const start = lines[first]?.start ?? 0;
  return { start, end: (closed ? last?.next : last?.end) ?? start };
}

/** The line with every run of blanks as one space, without indentation. */
function withoutSpacing(line: string): string {
  return line.trim().replace(/[ \t]+/g, " ");
}

function trimEnd(line: string): string {
  return line.trimEnd();
}

/** Fits a line of the new text that is not in the old text to the file. */
type LineChange = (line: string, wanted: readonly string[], actual: readonly string[]) => string;

/**
 * New text for lines that matched although their whitespace differs. A line that the edit keeps is written as in the
 * file. Throws if lines that look the same in `wanted` differ in the file and it is not clear which one is kept.
 */
function keepLines(
  newText: string,
  wanted: readonly string[],
  actual: readonly string[],
  simplify: (line: string) => string,
  change: LineChange = (line) => line,
): string {
  const lines = newText.split("\n");
  const kept = new Map<string, string[]>();
  for (const [index, line] of wanted.entries()) {
    for (const key of [`=${line}`, `~${simplify(line)}`]) {
      const same = kept.get(key);
      if (same === undefined) kept.set(key, [actual[index] ?? line]);
      else same.push(actual[index] ?? line);
    }
  }
  const keyOf = (line: string): string => {
    const exact = `=${line.replace(/\r$/, "")}`;
    return kept.has(exact) ? exact : `~${simplify(line)}`;
  };
  const differing = new Set<string>();
  for (const [key, same] of kept) if (same.some((line) => line !== same[0])) differing.add(key);
  const used = new Map<string, number>();
  for (const line of lines) used.set(keyOf(line), (used.get(keyOf(line)) ?? 0) + 1);
  const next = new Map<string, number>();
  return lines
    .map((line) => {
      if (line.trim() === "") return line;
      const key = keyOf(line);
      const own = kept.get(key);
      const [first] = own ?? [];
      if (own === undefined || first === undefined) return change(line, wanted, actual);
      if (!differing.has(key)) return first;
      if (own.length !== used.get(key)) {
        throw new Error(
          `The file has ${JSON.stringify(line.trim())} with different blanks in several of these lines; nothing was changed. Write both texts with the file's own blanks.`,
        );
      }
      const at = next.get(key) ?? 0;
      next.set(key, at + 1);
      return own[at] ?? line;
    })
    .join("\n");
}

/** The line with the whitespace of the file's line that shares the most words with it at both ends. Keeps its indentation. */
function spaceLike(line: string, wanted: readonly string[], actual: readonly string[]): string {
  if (wanted.length > MAX_SIMILAR) return line;
  const words = partsOf(line);
  let best = { score: 0, text: line };
  for (const [index, other] of wanted.entries()) {
    const theirs = partsOf(other);
    const file = partsOf(actual[index] ?? "");
    if (theirs.length !== file.length) continue;
    const most = Math.min(words.length, theirs.length);
    let head = 0;
    while (head < most && words[head]?.word === theirs[head]?.word) head++;
    let tail = 0;
    while (tail < most - head && words.at(-1 - tail)?.word === theirs.at(-1 - tail)?.word) tail++;
    // Of lines with as many words in common, one with the same indentation.
    const score = (head + tail) * 2 + (words[0]?.blank === theirs[0]?.blank ? 1 : 0);
    if (head + tail === 0 || score <= best.score) continue;
    const middle = words.slice(head, words.length - tail);
    const end = tail === 0 ? [] : file.slice(-tail);
    const parts = [
      ...file.slice(0, head),
      ...middle.map((part, at) => ({ ...part, blank: gap(part, file[head + at]) })),
      ...end,
    ];
    const [, ...rest] = parts;
    const spaced = rest.map(({ blank, word }) => blank + word).join("");
    best = { score, text: (words[0]?.blank ?? "") + (parts[0]?.word ?? "") + spaced };
  }
  return best.text;
}

/** A changed word keeps the column of the word it replaces. */
function gap(part: Part, replaced: Part | undefined): string {
  return replaced?.blank ?? part.blank;
}

interface Part {
  readonly blank: string;
  readonly word: string;
}

function partsOf(line: string): Part[] {
  return [...line.matchAll(/([ \t]*)([^ \t]+)/g)].map(([, blank = "", word = ""]) => ({ blank, word }));
}
