import type { DiffHunk, FileDiff } from "@agent/core";
import { applied, CONTEXT_LINES, diffLines, groupByLines } from "./diff.js";
import type { Region } from "./match.js";

/** What a display gets of one diff. Lines past it are only counted. */
const MAX_CHARACTERS = 64 * 1024;

/** The diff of a file in which `regions` of its text are replaced. `toShown` makes a line readable. */
export function fileDiff(
  path: string,
  change: FileDiff["change"],
  text: string,
  regions: readonly Region[],
  toShown: (line: string) => string = (line) => line,
): FileDiff {
  const hunks: DiffHunk[] = [];
  let [added, removed, more, left] = [0, 0, 0, MAX_CHARACTERS];
  for (const group of groupByLines(text, regions)) {
    const before = text.slice(group.start, group.end);
    const marked = diffLines(...split(before, applied(before, group.regions, group.start)));
    const first = group.first + 1;
    for (const { oldStart, newStart, lines } of hunksOf(marked, first, first + added - removed)) {
      const shown = lines.filter((line) => {
        left -= line.length + 1;
        return left >= 0;
      });
      more += lines.length - shown.length;
      if (shown.length > 0) hunks.push({ oldStart, newStart, lines: shown.map(toShown) });
    }
    added += count(marked, "+");
    removed += count(marked, "-");
  }
  return { path, change, added, removed, hunks, ...(more > 0 && { more }) };
}

/** Whether a diff shows every change. */
export function showsAll({ hunks, more }: FileDiff): boolean {
  return hunks.length > 0 && more === undefined;
}

/** The part of a text that differs from another text, as one region of whole lines; none if they are equal. */
export function differingRegion(before: string, after: string): Region[] {
  if (before === after) return [];
  const [old, fresh] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  const shorter = Math.min(old.length, fresh.length);
  let [first, last] = [0, 0];
  while (first < shorter && old[first] === fresh[first]) first++;
  while (last < shorter - first && old.at(-1 - last) === fresh.at(-1 - last)) last++;
  const start = lengthOf(old.slice(0, first));
  const end = before.length - lengthOf(old.slice(old.length - last));
  return [{ start, end, replacement: fresh.slice(first, fresh.length - last).join("") }];
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

/** The lines of both texts. A carriage return is part of a line unless every line break of both has one. */
function split(before: string, after: string): [string[], string[]] {
  const isCrlf = [before, after].every((text) => !/(?<!\r)\n/.test(text));
  const linesOf = (text: string): string[] => {
    const lines = text.split(isCrlf ? "\r\n" : "\n");
    if (lines.at(-1) === "") lines.pop();
    return lines;
  };
  return [linesOf(before), linesOf(after)];
}

/** Cuts marked lines into hunks: unchanged lines far from a change are left out. */
function hunksOf(marked: readonly string[], oldFirst: number, newFirst: number): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let [oldLine, newLine, at] = [oldFirst, newFirst, 0];
  const skipTo = (index: number): void => {
    const passed = marked.slice(at, index);
    oldLine += passed.length - count(passed, "+");
    newLine += passed.length - count(passed, "-");
    at = index;
  };
  const nextChange = (from: number): number => {
    let index = from;
    while (marked[index]?.startsWith(" ")) index++;
    return index;
  };
  for (let change = nextChange(0); change < marked.length; ) {
    skipTo(Math.max(at, change - CONTEXT_LINES));
    let end = change + 1;
    for (change = nextChange(end); change < marked.length && change <= end + 2 * CONTEXT_LINES; ) {
      end = change + 1;
      change = nextChange(end);
    }
    end = Math.min(marked.length, end + CONTEXT_LINES);
    hunks.push({ oldStart: oldLine, newStart: newLine, lines: marked.slice(at, end) });
    skipTo(end);
  }
  return hunks;
}

function count(lines: readonly string[], mark: string): number {
  return lines.reduce((sum, line) => (line.startsWith(mark) ? sum + 1 : sum), 0);
}
