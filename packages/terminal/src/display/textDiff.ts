import type { DiffHunk, FileDiff } from "@agent/core";
import { diffArrays } from "diff/lib/diff/array.js";

const CONTEXT = 3;
const MOST_LINES = 400;
// A file with more changes is shown as replaced.
const MOST_EDITS = 4000;

/** The diff of two texts; an absent text means that the file does not exist. The longest part is cut off. */
export function textDiff(path: string, before: string | undefined, after: string | undefined): FileDiff {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const parts = diffArrays(old, fresh, { maxEditLength: MOST_EDITS }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: fresh },
  ];
  const lines = parts.flatMap(({ added, removed, value }) =>
    value.map((line) => `${added ? "+" : removed ? "-" : " "}${line}`),
  );
  const hunks = hunksOf(lines);
  const shown: DiffHunk[] = [];
  let room = MOST_LINES;
  for (const hunk of hunks) {
    if (room > 0) shown.push({ ...hunk, lines: hunk.lines.slice(0, room) });
    room -= hunk.lines.length;
  }
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return {
    path,
    change: before === undefined ? "created" : after === undefined ? "deleted" : "edited",
    added: count("+"),
    removed: count("-"),
    hunks: shown,
    ...(room < 0 && { more: -room }),
  };
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Groups changed lines with the unchanged ones around them. */
function hunksOf(lines: readonly string[]): DiffHunk[] {
  const near = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(" ")) continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at++) near.add(at);
  }
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  let [old, fresh, isOpen] = [1, 1, false];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) {
      if (!isOpen) hunks.push({ oldStart: old, newStart: fresh, lines: [] });
      hunks.at(-1)?.lines.push(line);
    }
    isOpen = near.has(index);
    if (!line.startsWith("+")) old++;
    if (!line.startsWith("-")) fresh++;
  }
  return hunks;
}
