import { diffArrays } from "diff/lib/diff/array.js";
import type { Region } from "./match.js";
import { lineStart, newlinesBetween, nextLine } from "./textLines.js";

export const CONTEXT_LINES = 2;
const MAX_HUNKS = 20;
const MAX_DIFF_LINES = 200;
const LONGEST_LINE = 300;
const MAX_HUNK_CHARACTERS = 4 * 1024 * 1024;
// About 50 ms of work; a text with more changed lines is shown as fully removed and added.
const MAX_EDITS = 700;

/** A compact unified diff of the changes, in order and capped. `regions` are sorted and do not overlap. */
export function compactDiff(text: string, regions: readonly Region[]): string {
  const out: string[] = [];
  let [shift, shown, rest] = [0, 0, 0];
  for (const group of groupByLines(text, regions)) {
    // The rest is only counted.
    const hunk = rest === 0 && shown < MAX_HUNKS ? hunkOf(text, group) : undefined;
    const lines = hunk && hunkLines(hunk, shift);
    if (lines === undefined || out.length + lines.length > MAX_DIFF_LINES + CONTEXT_LINES * 2) {
      rest++;
      continue;
    }
    shift += hunk === undefined ? 0 : hunk.after.length - hunk.before.length;
    out.push(...lines);
    shown++;
  }
  if (rest > 0) out.push(`[${rest} more ${rest === 1 ? "change is" : "changes are"} not shown.]`);
  return out.join("\n");
}

/** Changes in one hunk: the text from `start` to `end`, with its context lines. */
interface Group {
  readonly start: number;
  readonly end: number;
  /** The line of `start`, from 0. */
  readonly first: number;
  readonly regions: readonly Region[];
}

interface Hunk {
  /** The first line of the hunk in the old text, from 0. */
  readonly first: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Regions whose surroundings touch become one group. */
export function* groupByLines(text: string, regions: readonly Region[]): Generator<Group> {
  let [counted, line] = [0, 0];
  for (let index = 0; index < regions.length; ) {
    const group: Region[] = [];
    let [start, end, lineEnd] = [0, 0, 0];
    for (let region = regions[index]; region !== undefined; region = regions[++index]) {
      // Search once per line, not once per region: one line can be as long as the file and hold many regions.
      if (group.length === 0 || region.start >= lineEnd) {
        const from = lineStart(text, region.start, CONTEXT_LINES);
        if (group.length > 0 && from > end) break;
        if (group.length === 0) start = from;
      }
      if (group.length === 0 || region.end > lineEnd) {
        lineEnd = nextLine(text, Math.max(region.start, region.end - 1));
        end = nextLine(text, lineEnd, CONTEXT_LINES - 1);
      }
      group.push(region);
    }
    line += newlinesBetween(text, counted, start);
    counted = start;
    yield { start, end, first: line, regions: group };
  }
}

/** The lines of a group; `undefined` if they are too many to be shown. */
function hunkOf(text: string, { start, end, first, regions }: Group): Hunk | undefined {
  const added = regions.reduce((sum, { replacement }) => sum + replacement.length, 0);
  if (end - start + added > MAX_HUNK_CHARACTERS) return undefined;
  const before = text.slice(start, end);
  return { first, before: split(before), after: split(applied(before, regions, start)) };
}

/** Returns `text` with the regions replaced; positions count from `base`. */
export function applied(text: string, regions: readonly Region[], base = 0): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, replacement } of regions) {
    parts.push(text.slice(done, start - base), replacement);
    done = end - base;
  }
  parts.push(text.slice(done));
  return parts.join("");
}

function hunkLines({ first, before, after }: Hunk, shift: number): string[] {
  const head = `@@ -${first + 1},${before.length} +${first + 1 + shift},${after.length} @@`;
  return [head, ...diffLines(before, after).map(shorten)];
}

/** The lines of both texts in one list, marked with "-" (before), "+" (after) or " " (both). */
export function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS });
  if (changes === undefined) return [...marked(before, "-"), ...marked(after, "+")];
  return changes.flatMap(({ value, added, removed }) => marked(value, added ? "+" : removed ? "-" : " "));
}

function marked(lines: readonly string[], mark: "-" | "+" | " "): string[] {
  return lines.map((line) => mark + line);
}

function split(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function shorten(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}...` : line;
}
