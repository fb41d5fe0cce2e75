import { diffLines, lineStart, newlinesBetween, nextLine, quote } from "@agent/core/toolkit";

const LONGEST_SHOWN = 160;
const MAX_LINES_SHOWN = 40;
// The number of equal characters shown before a difference, so that the reader can find it.
const LEAD_CHARACTERS = 12;

/**
 * Describes the parts of a text most similar to the one that was not found, and how the best of them differs;
 * `undefined` if nothing is similar. `toShown` turns a piece of the text into readable characters.
 */
export function nearestPlaces(
  text: string,
  wanted: string,
  toShown: (piece: string) => string,
): string | undefined {
  const [best, ...others] = findCandidates(text, wanted);
  if (best === undefined) return undefined;
  const piece = ({ start, end }: Candidate): string => toShown(text.slice(start, end)).replace(/\r?\n$/, "");
  const asked = toShown(wanted).replace(/\r?\n$/, "");
  const shown = asked.includes("\n")
    ? [manyLines(best, asked, piece(best))]
    : [oneLine(best, asked, piece(best))];
  for (const other of others) shown.push(`${span(other, piece(other))}: ${shorten(piece(other).trim())}`);
  return `The nearest lines are:\n${shown.join("\n")}`;
}

function oneLine(best: Candidate, asked: string, found: string): string {
  const [a, b] = [asked.trim(), found.trim()];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const from = Math.max(0, same - LEAD_CHARACTERS);
  const differs = a === b ? "" : `\n  old_text has ${part(a, from)}, the file has ${part(b, from)}`;
  return `${span(best, found)}: ${shorten(found.trim())}${differs}`;
}

function part(text: string, from: number): string {
  return `${from > 0 ? "…" : ""}${quote(text.slice(from).toWellFormed())}`;
}

function manyLines(best: Candidate, asked: string, found: string): string {
  const lines = diffLines(asked.split(/\r?\n/), found.split(/\r?\n/)).map(shorten);
  const more = lines.length > MAX_LINES_SHOWN ? [`[${lines.length - MAX_LINES_SHOWN} more lines]`] : [];
  return [
    `${span(best, found)} ("-" is old_text, "+" the file):`,
    ...lines.slice(0, MAX_LINES_SHOWN),
    ...more,
  ].join("\n");
}

function span({ line }: Candidate, found: string): string {
  const last = line + newlinesBetween(found, 0, found.length);
  return last === line ? `line ${line}` : `lines ${line}-${last}`;
}

function shorten(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…`.toWellFormed() : line;
}

// Limits on how many pieces of `wanted` are searched for and how many hits of each are counted: they bound the time.
const MAX_PIECES = 24;

const MAX_OCCURRENCES = 100;

const SHORTEST_LINE = 8;

const SHORTEST_WORD = 2;

const MAX_COMPARED = 30;

const MAX_CANDIDATES = 3;

const ALIKE_ENOUGH = 0.4;

// How many lines longer or shorter a place may be than the wanted text.
const MAX_SHIFT = 4;

// In a line longer than this (of a minified file, say) only the text around the hit is compared.
const LONG_LINE = 500;

const MAX_COMPARED_CHARACTERS = 20_000;

const WORD = "[\\p{L}\\p{N}_]+";

const SIGN = "[^\\s\\p{L}\\p{N}_]";

/** A part of the text that is similar to the wanted text; `line` counts from 1. */
interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/**
 * The parts of a text most similar to `wanted`, best first. Searches the text for pieces of `wanted` (whole lines,
 * words). Each hit votes for the position where all of `wanted` would start; rare pieces weigh more than frequent ones.
 * Then compares the words at the positions with the most votes. Takes linear time.
 */
function findCandidates(text: string, wanted: string): Candidate[] {
  const byWords = rank(text, wanted, piecesOf(wanted), wordsOf);
  // No word was found, perhaps because each has a typo: fall back to pieces of four characters.
  return byWords.length > 0 ? byWords : rank(text, wanted, shredsOf(wanted), pairsOf);
}

function rank(
  text: string,
  wanted: string,
  pieces: readonly Piece[],
  partsOf: (text: string) => Map<string, number>,
): Candidate[] {
  const votes = new Map<number, number>();
  for (const piece of pieces) {
    const places = occurrences(text, piece.text);
    for (const place of places) {
      const start = startOf(text, place, wanted, piece.at);
      votes.set(start, (votes.get(start) ?? 0) + piece.text.length / places.length);
    }
  }
  const parts = partsOf(wanted);
  const best = [...votes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_COMPARED)
    .map(([start]) => ({ start, end: endOf(text, start, wanted) }))
    .map((place) => ({ ...place, likeness: likeness(parts, partsOf(text.slice(place.start, place.end))) }))
    .filter(({ likeness }) => likeness >= ALIKE_ENOUGH)
    .sort((a, b) => b.likeness - a.likeness || a.start - b.start);
  return best
    .filter((place, index) => !best.slice(0, index).some((other) => overlap(place, other)))
    .slice(0, MAX_CANDIDATES)
    .map((place) => alignedToEnds(text, place, wanted))
    .map(({ start, end }) => ({ start, end, line: newlinesBetween(text, 0, start) + 1 }));
}

/**
 * Extends or shrinks the place by a few lines if the first or last line of `wanted` is there: `wanted` may lack lines
 * of the file, or have lines that the file lacks.
 */
function alignedToEnds(text: string, { start, end }: Span, wanted: string): Span {
  const lines = wanted.split("\n").map((line) => line.trimEnd());
  const content = lines.filter((line) => line !== "");
  const [first = "", last = ""] = [content[0], content.at(-1)];
  if (content.length < 2 || end - start > MAX_COMPARED_CHARACTERS) return { start, end };
  const count = newlinesBetween(wanted.trimEnd(), 0, wanted.trimEnd().length);
  const from = lineStart(text, start, MAX_SHIFT);
  const near = lineSpans(text, from, nextLine(text, start, count + 2 * MAX_SHIFT));
  const nearest = (line: string, expected: number, after: number): number | undefined =>
    near
      .flatMap((span, index) => (span.text === line && index > after ? [index] : []))
      .filter((index) => Math.abs(index - expected) <= MAX_SHIFT)
      .sort((x, y) => Math.abs(x - expected) - Math.abs(y - expected))[0];
  const at = near.findIndex((span) => span.start >= start);
  const top = nearest(first, at, -1) ?? at;
  const bottom = nearest(last, top + count, top);
  const [head, tail] = [near[top], near[bottom ?? -1]];
  return head && tail ? { start: head.start, end: tail.end } : { start, end };
}

function lineSpans(text: string, from: number, to: number): (Span & { readonly text: string })[] {
  const spans: (Span & { readonly text: string })[] = [];
  for (let start = from; start < to; ) {
    const end = nextLine(text, start);
    spans.push({ start, end, text: text.slice(start, end).trimEnd() });
    start = end;
  }
  return spans;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Piece {
  readonly text: string;
  readonly at: number;
}

/** Whole lines and words, the longest first: they tell places apart best. */
function piecesOf(wanted: string): Piece[] {
  const head = wanted.slice(0, MAX_COMPARED_CHARACTERS);
  const lines = [...head.matchAll(/\S[^\n]*\S/g)].filter(([line]) => line.length >= SHORTEST_LINE);
  const words = [...head.matchAll(new RegExp(WORD, "gu"))].filter(([word]) => word.length >= SHORTEST_WORD);
  const pieces = new Map([...words, ...lines].map((match) => [match[0], match.index]));
  return [...pieces]
    .map(([text, at]) => ({ text, at }))
    .sort((a, b) => b.text.length - a.text.length)
    .slice(0, MAX_PIECES);
}

/** Pieces of four characters. */
function shredsOf(wanted: string): Piece[] {
  const shreds = [...wanted.slice(0, MAX_COMPARED_CHARACTERS).matchAll(/\S.{3}/g)];
  return shreds.slice(0, MAX_PIECES).map((match) => ({ text: match[0], at: match.index }));
}

function occurrences(text: string, piece: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
    if (found.push(at) === MAX_OCCURRENCES) break;
  }
  return found;
}

/**
 * The position where `wanted` would start if its piece at offset `at` is at `place`: at the start of a line if one is
 * near.
 */
function startOf(text: string, place: number, wanted: string, at: number): number {
  const start = lineStart(text, place, newlinesBetween(wanted, 0, at));
  const column = at - lineStart(wanted, at);
  return place - lineStart(text, place) > LONG_LINE ? Math.max(start, place - column) : start;
}

function endOf(text: string, start: number, wanted: string): number {
  const lines = newlinesBetween(wanted, 0, wanted.length - 1);
  const end = nextLine(text, start, lines);
  return end - start > wanted.length + LONG_LINE ? Math.min(end, start + wanted.length) : end;
}

function overlap(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Counts each word or punctuation mark; whitespace is ignored. */
function wordsOf(text: string): Map<string, number> {
  const parts = new RegExp(`${WORD}|${SIGN}`, "gu");
  return tally(text.slice(0, MAX_COMPARED_CHARACTERS).match(parts) ?? []);
}

/** Counts each pair of neighbouring characters. */
function pairsOf(text: string): Map<string, number> {
  const plain = text.slice(0, MAX_COMPARED_CHARACTERS).trim().toLowerCase();
  return tally(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)));
}

function tally(parts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  return counts;
}

/** Dice's coefficient: the share of words or pairs that two texts have in common, from 0 to 1. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const sum = (parts: ReadonlyMap<string, number>): number => [...parts.values()].reduce((x, y) => x + y, 0);
  let shared = 0;
  for (const [part, count] of a) shared += Math.min(count, b.get(part) ?? 0);
  return (2 * shared) / (sum(a) + sum(b) || 1);
}
