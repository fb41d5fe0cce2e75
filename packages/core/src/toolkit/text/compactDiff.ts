import { diffArrays } from "diff/lib/diff/array.js";
import { lineStart, newlinesBetween, nextLine } from "./lines.js";

export const CONTEXT_LINES = 2;
const MAX_HUNKS = 20;
const MAX_DIFF_LINES = 200;
const LONGEST_LINE = 300;
const MAX_HUNK_CHARACTERS = 4 * 1024 * 1024;
// About 50 ms of work; a text with more changed lines is shown as fully removed and added.
const MAX_EDITS = 700;

/** One change of a text: the part from `start` to `end` becomes `replacement`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/**
 * A compact unified diff for the model that made a change: in order and capped. The change is the whole new text, or its edits,
 * which are sorted and do not overlap.
 *
 * @example
 * ```ts
 * import { compactDiff } from "@agent/core/toolkit";
 *
 * console.log(compactDiff("one\ntwo\nthree\n", "one\n2\nthree\n").split("\n").join(" | ")); // @@ -1,3 +1,3 @@ |  one | -two | +2 |  three
 * ```
 */
export function compactDiff(text: string, change: string | readonly TextEdit[]): string {
  const edits = editsOf(text, change);
  const out: string[] = [];
  let [shift, shown, rest] = [0, 0, 0];
  for (const group of groupByLines(text, edits)) {
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
  readonly edits: readonly TextEdit[];
}

interface Hunk {
  /** The first line of the hunk in the old text, from 0. */
  readonly first: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Edits whose surroundings touch become one group. */
export function* groupByLines(text: string, edits: readonly TextEdit[]): Generator<Group> {
  let [counted, line] = [0, 0];
  for (let index = 0; index < edits.length; ) {
    const group: TextEdit[] = [];
    let [start, end, lineEnd] = [0, 0, 0];
    for (let edit = edits[index]; edit !== undefined; edit = edits[++index]) {
      // Search once per line, not once per edit: one line can be as long as the file and hold many edits.
      if (group.length === 0 || edit.start >= lineEnd) {
        const from = lineStart(text, edit.start, CONTEXT_LINES);
        if (group.length > 0 && from > end) break;
        if (group.length === 0) start = from;
      }
      if (group.length === 0 || edit.end > lineEnd) {
        lineEnd = nextLine(text, Math.max(edit.start, edit.end - 1));
        end = nextLine(text, lineEnd, CONTEXT_LINES - 1);
      }
      group.push(edit);
    }
    line += newlinesBetween(text, counted, start);
    counted = start;
    yield { start, end, first: line, edits: group };
  }
}

/** The lines of a group; `undefined` if they are too many to be shown. */
function hunkOf(text: string, { start, end, first, edits }: Group): Hunk | undefined {
  const added = edits.reduce((sum, { replacement }) => sum + replacement.length, 0);
  if (end - start + added > MAX_HUNK_CHARACTERS) return undefined;
  const before = text.slice(start, end);
  return { first, before: split(before), after: split(applyEdits(before, edits, start)) };
}

/** The change of a text as edits: a whole new text is one edit of whole lines, or none if nothing differs. */
export function editsOf(before: string, change: string | readonly TextEdit[]): readonly TextEdit[] {
  if (typeof change !== "string") return change;
  if (before === change) return [];
  const [old, fresh] = [before.split(/(?<=\n)/), change.split(/(?<=\n)/)];
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

/**
 * A text with the edits made, which are sorted and do not overlap. `base` is the position where the text begins, if it is a
 * part of the one that the positions count in.
 *
 * @example
 * ```ts
 * import { applyEdits } from "@agent/core/toolkit";
 *
 * console.log(applyEdits("one two", [{ start: 4, end: 7, replacement: "2" }])); // one 2
 * ```
 */
export function applyEdits(text: string, edits: readonly TextEdit[], base = 0): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, replacement } of edits) {
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

/**
 * The lines of both texts in one list, marked with "-" (before), "+" (after) or " " (both).
 *
 * @example
 * ```ts
 * import { diffLines } from "@agent/core/toolkit";
 *
 * console.log(diffLines(["one", "two"], ["one", "2"]).join(" | ")); //  one | -two | +2
 * ```
 */
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
