import type { DiffHunk, FileDiff } from "../../tools/callDescription.js";
import { applyEdits, CONTEXT_LINES, diffLines, editsOf, groupByLines, type TextEdit } from "./compactDiff.js";

/** The maximum size of one diff for a display. Further lines are only counted. */
const MAX_CHARACTERS = 64 * 1024;
/** Marks a last line without a newline while lines are compared. */
const NO_NEWLINE = "\n";

export interface FileDiffOptions {
  /** Default: `edited`. */
  readonly change?: FileDiff["change"];
  /** Makes a line readable. Default: it is shown as it is. */
  readonly toShown?: (line: string) => string;
}

/**
 * The diff of a file, for a preview or a view. The change is its whole new text, or its edits, which are sorted and do not
 * overlap. A created file has no text before, a deleted one no text after.
 *
 * @example
 * ```ts
 * import { fileDiff } from "@agent/core/toolkit";
 *
 * const diff = fileDiff("/project/a.txt", "one\ntwo\nthree\n", "one\n2\nthree\n");
 * console.log(diff.hunks[0]?.lines.join(" | ")); //  one | -two | +2 |  three
 * console.log(diff.added, diff.removed); // 1 1
 * ```
 */
export function fileDiff(
  path: string,
  text: string,
  changed: string | readonly TextEdit[],
  { change = "edited", toShown = (line) => line }: FileDiffOptions = {},
): FileDiff {
  const hunks: DiffHunk[] = [];
  let [added, removed, more, left] = [0, 0, 0, MAX_CHARACTERS];
  for (const group of groupByLines(text, editsOf(text, changed))) {
    const before = text.slice(group.start, group.end);
    const after = applyEdits(before, group.edits, group.start);
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
