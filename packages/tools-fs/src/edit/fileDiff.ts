import type { DiffHunk, FileDiff } from "@agent/core";
import { applied, CONTEXT_LINES, diffLines, groupByLines } from "./diff.js";
import type { Region } from "./match.js";

/** The maximum size of one diff for a display. Further lines are only counted. */
const MAX_CHARACTERS = 64 * 1024;
/** Marks a last line without a newline while lines are compared. */
const NO_NEWLINE = "\n";

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
    const after = applied(before, group.regions, group.start);
    const open = group.end < text.length ? undefined : openSides(before, after);
    const marked = markLines(before, after, open);
    const first = group.first + 1;
    for (const { lines, ...hunk } of hunksOf(marked, first, first + added - removed, open)) {
      const shown = lines.filter((line) => {
        left -= line.length + 1;
        return left >= 0;
      });
      more += lines.length - shown.length;
      if (shown.length === lines.length) hunks.push({ ...hunk, lines: shown.map(toShown) });
      else if (shown.length > 0) {
        const { oldStart, newStart } = hunk;
        hunks.push({ oldStart, newStart, lines: shown.map(toShown) });
      }
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

type OpenSides = DiffHunk["noFinalNewline"];

/** Which of two texts that reach the end of a file lack a final newline. */
function openSides(before: string, after: string): OpenSides {
  const [old, fresh] = [before, after].map((text) => text !== "" && !text.endsWith("\n"));
  return old && fresh ? "both" : old ? "old" : fresh ? "new" : undefined;
}

/** The lines of both texts, marked. Last lines differ if only one of them has a newline. */
function markLines(before: string, after: string, open: OpenSides): string[] {
  const [old, fresh] = split(before, after);
  if (open === undefined || open === "both") return diffLines(old, fresh);
  const side = open === "old" ? old : fresh;
  side.push(`${side.pop()}${NO_NEWLINE}`);
  const marked = diffLines(old, fresh);
  const last = marked.findLastIndex((line) => line.startsWith(open === "old" ? "-" : "+"));
  return marked.with(last, (marked[last] as string).slice(0, -NO_NEWLINE.length));
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

/** Splits marked lines into hunks: unchanged lines far from a change are omitted. */
function hunksOf(marked: readonly string[], oldFirst: number, newFirst: number, open: OpenSides): DiffHunk[] {
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
    const reachesEnd = open !== undefined && end === marked.length;
    hunks.push({
      oldStart: oldLine,
      newStart: newLine,
      lines: marked.slice(at, end),
      ...(reachesEnd && { noFinalNewline: open }),
    });
    skipTo(end);
  }
  return hunks;
}

function count(lines: readonly string[], mark: string): number {
  return lines.reduce((sum, line) => (line.startsWith(mark) ? sum + 1 : sum), 0);
}
