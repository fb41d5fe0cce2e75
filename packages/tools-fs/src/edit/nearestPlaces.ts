import { quote } from "@agent/core/toolkit";
import { type Candidate, findCandidates } from "./candidates.js";
import { diffLines } from "./diff.js";
import { newlinesBetween } from "./textLines.js";

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
  return text.length <= from
    ? "nothing more"
    : `${from > 0 ? "…" : ""}${quote(text.slice(from).toWellFormed())}`;
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
