import { lineStart, newlinesBetween, nextLine } from "./textLines.js";

// Upper limits on how many pieces of `wanted` are searched and on the hits counted for each, so that it stays quick.
const MAX_PIECES = 24;
const MAX_OCCURRENCES = 100;
const SHORTEST_LINE = 8;
const SHORTEST_WORD = 2;
const MAX_COMPARED = 30;
const MAX_CANDIDATES = 3;
const ALIKE_ENOUGH = 0.4;
// A line longer than this (of a minified file, say) is not compared whole, but around the place in question.
const LONG_LINE = 500;
const MAX_COMPARED_CHARACTERS = 20_000;
const WORD = "[\\p{L}\\p{N}_]+";
const SIGN = "[^\\s\\p{L}\\p{N}_]";

/** A part of the text that is like what was wanted; `line` counts from 1. */
export interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/**
 * The parts of a text most like `wanted`, best first. Finds pieces of it (whole lines, words) in the text, lets
 * each place vote for where the whole would start, rare pieces more than frequent ones, and compares the words
 * of the places with the most votes. The time it takes grows with the text only as searching does.
 */
export function findCandidates(text: string, wanted: string): Candidate[] {
  const byWords = rank(text, wanted, piecesOf(wanted), wordsOf);
  // Every word may have a typing mistake: fall back to pieces of four characters.
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
    .map(({ start, end }) => ({ start, end, line: newlinesBetween(text, 0, start) + 1 }));
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

/** Four characters at a time. */
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

/** Where the whole would start, if a piece of it at `at` stands at `place`: at the start of a line, if that is near. */
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

/** How often each word or sign occurs; blanks do not count. */
function wordsOf(text: string): Map<string, number> {
  const parts = new RegExp(`${WORD}|${SIGN}`, "gu");
  return tally(text.slice(0, MAX_COMPARED_CHARACTERS).match(parts) ?? []);
}

/** How often each pair of neighbouring characters occurs. */
function pairsOf(text: string): Map<string, number> {
  const plain = text.slice(0, MAX_COMPARED_CHARACTERS).trim().toLowerCase();
  return tally(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)));
}

function tally(parts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  return counts;
}

/** Dice's coefficient: how much two texts share. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const sum = (parts: ReadonlyMap<string, number>): number => [...parts.values()].reduce((x, y) => x + y, 0);
  let shared = 0;
  for (const [part, count] of a) shared += Math.min(count, b.get(part) ?? 0);
  return (2 * shared) / (sum(a) + sum(b) || 1);
}
