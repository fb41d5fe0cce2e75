import { linesOf } from "./textLines.js";

const MAX_CANDIDATES = 3;
const MAX_LINES = 20_000;
const COMPARED_CHARACTERS = 200;
const LONGEST_SHOWN = 160;
const ALIKE_ENOUGH = 0.4;

/** Places in the text most like `wanted`, best first: `line 12: const a = 1;`. */
export function nearestPlaces(text: string, wanted: string): string[] {
  const lines = wanted.split(/\r?\n/);
  // The longest line tells places apart best; a brace on its own would match everywhere.
  const anchor = lines.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), "");
  const pairs = pairsOf(anchor);
  if (pairs.size === 0) return [];
  return linesOf(text)
    .slice(0, MAX_LINES)
    .map((line, index) => ({ index, content: text.slice(line.start, Math.min(line.end, line.start + 1000)) }))
    .map(({ index, content }) => ({ index, content, likeness: likeness(pairs, pairsOf(content)) }))
    .filter(({ likeness }) => likeness >= ALIKE_ENOUGH)
    .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
    .slice(0, MAX_CANDIDATES)
    .map(({ index, content }) => `line ${index + 1}: ${shorten(content.trim())}`);
}

/** Dice's coefficient: how many neighbouring pairs of characters two lines share. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size || 1);
}

function pairsOf(line: string): Set<string> {
  const plain = line.trim().slice(0, COMPARED_CHARACTERS).toLowerCase();
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < plain.length; index++) pairs.add(plain.slice(index, index + 2));
  if (plain.length === 1) pairs.add(plain);
  return pairs;
}

function shorten(line: string): string {
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…`.toWellFormed() : line;
}
