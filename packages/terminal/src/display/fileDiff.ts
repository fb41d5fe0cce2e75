import type { DiffHunk, FileDiff } from "@agent/core";
import { countOf } from "@agent/internal";
import { diffArrays } from "diff/lib/diff/array.js";
import { safeLine, shownPath } from "../text/safeText.js";
import type { Style } from "../text/style.js";

const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
// Lines with more changed words are coloured as a whole.
const MOST_EDITS = 200;
// Lines that share less than this are treated as rewritten: marking single words would be confusing.
const LEAST_SHARED = 0.3;

/** The lines of a diff. A long one continues at `indent`, to the right of the numbers and signs. */
export interface DiffLines {
  readonly lines: readonly string[];
  readonly indent: number;
}

interface MarkedLine {
  readonly mark: string;
  readonly text: string;
  /** The line number, in the old file for a removed line. */
  readonly number: number;
}

/**
 * Renders changed files: each line with its number, added lines green, removed ones red, and changed words inside a
 * line in inverse. `safe` makes a line safe to display. A file is named if there are several.
 */
export function diffLines(files: readonly FileDiff[], style: Style, safe = safeLine): DiffLines {
  const highest = Math.max(1, ...files.flatMap(({ hunks }) => hunks.map(lastNumber)));
  const digits = String(highest).length;
  const named = files.length > 1;
  const lines = files.flatMap((file) => {
    const more = file.more ? [style.dim(`… ${countOf(file.more, "more line")} of the change`)] : [];
    return [...(named ? [fileHeading(file, style)] : []), ...hunkLines(file, digits, style, safe), ...more];
  });
  return { lines, indent: digits + 2 };
}

/** `src/a.ts  +3 −1`: a file of a diff, and its line counts. */
function fileHeading(file: FileDiff, style: Style): string {
  const { path, oldPath, change } = file;
  const name = oldPath === undefined ? shownPath(path) : `${shownPath(oldPath)} → ${shownPath(path)}`;
  const verb = change === "edited" ? "" : `${change} `;
  return `${verb}${style.bold(name)}  ${changeCounts([file], style)}`.trimEnd();
}

/** `+3 −1`: how many lines a diff adds and removes. */
export function changeCounts(files: readonly FileDiff[], style: Style): string {
  const [added, removed] = [0, 0].map((_, at) =>
    files.reduce((sum, file) => sum + (at === 0 ? file.added : file.removed), 0),
  ) as [number, number];
  return [
    ...(added > 0 ? [style.green(`+${added}`)] : []),
    ...(removed > 0 ? [style.red(`−${removed}`)] : []),
  ].join(" ");
}

function hunkLines(
  { hunks }: FileDiff,
  digits: number,
  style: Style,
  safe: (line: string) => string,
): string[] {
  const shown = changesEndings(hunks) ? safe : (text: string) => safe(text.replace(/\r$/, ""));
  return hunks.flatMap((hunk, at) => [
    ...(at > 0 ? [style.dim(`${" ".repeat(digits)} ⋮`)] : []),
    ...paintLines(
      numbered(hunk).map((line) => ({ ...line, text: shown(line.text) })),
      digits,
      style,
    ),
    ...newlineNote(hunk, style),
  ]);
}

/** Whether a line changes only between CRLF and LF: then the carriage returns are the change, and are shown. */
function changesEndings(hunks: readonly DiffHunk[]): boolean {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const removed = new Set(lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1)));
  return lines.some(
    (line) =>
      line.startsWith("+") && removed.has(line.endsWith("\r") ? line.slice(1, -1) : `${line.slice(1)}\r`),
  );
}

function lastNumber({ oldStart, newStart, lines }: DiffHunk): number {
  return Math.max(oldStart, newStart) + Math.max(0, lines.length - 1);
}

function numbered({ oldStart, newStart, lines }: DiffHunk): MarkedLine[] {
  let [old, fresh] = [oldStart, newStart];
  return lines.map((line) => {
    const mark = line.charAt(0);
    const number = mark === "-" ? old : fresh;
    if (mark !== "+") old++;
    if (mark !== "-") fresh++;
    return { mark, text: line.slice(1), number };
  });
}

/** Explains two last lines that look the same: only one of them ends with a newline. */
function newlineNote({ lines, noFinalNewline: open }: DiffHunk, style: Style): string[] {
  if (open !== "old" && open !== "new") return [];
  const [removed, added] = ["-", "+"].map((mark) =>
    lines.findLast((line) => line.startsWith(mark))?.slice(1),
  );
  if (removed !== added) return [];
  return [style.dim(`(the newline at the end of the file is ${open === "old" ? "added" : "removed"})`)];
}

function paintLines(lines: readonly MarkedLine[], digits: number, style: Style): string[] {
  const painted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, "-");
    const added = run(lines, at + removed, "+");
    const before = lines.slice(at, at + removed);
    const after = lines.slice(at + removed, at + removed + added);
    // Only blocks of the same height correspond line by line.
    const pairs =
      removed === added ? before.map(({ text }, index) => changedParts(text, after[index]?.text ?? "")) : [];
    const paint = (line: MarkedLine, changed: readonly Range[] | undefined): string => {
      const number = String(line.number).padStart(digits);
      if (line.mark === " ") return `${style.dim(number)}  ${line.text}`;
      const color = line.mark === "+" ? style.green : style.red;
      return color(`${number} ${line.mark}${markChanged(line.text, changed, style)}`);
    };
    painted.push(
      ...before.map((line, index) => paint(line, pairs[index]?.before)),
      ...after.map((line, index) => paint(line, pairs[index]?.after)),
    );
    const context = lines[at];
    if (removed + added === 0 && context) painted.push(paint(context, undefined));
    at += Math.max(1, removed + added);
  }
  return painted;
}

/** How many lines from `at` on have the mark. */
function run(lines: readonly MarkedLine[], at: number, mark: "-" | "+"): number {
  let end = at;
  while (lines[end]?.mark === mark) end++;
  return end - at;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function markChanged(text: string, changed: readonly Range[] = [], style: Style): string {
  let marked = "";
  let at = 0;
  for (const { start, end } of changed) {
    marked += text.slice(at, start) + style.inverse(text.slice(start, end));
    at = end;
  }
  return marked + text.slice(at);
}

/** The differences between two lines, word by word; `undefined` if they have little in common. */
function changedParts(before: string, after: string): { before: Range[]; after: Range[] } | undefined {
  const changes = diffArrays(before.match(WORDS) ?? [], after.match(WORDS) ?? [], {
    maxEditLength: MOST_EDITS,
  });
  if (changes === undefined) return undefined;
  const parts: { before: Range[]; after: Range[] } = { before: [], after: [] };
  let [shared, old, fresh] = [0, 0, 0];
  for (const { value, added, removed } of changes) {
    const { length } = value.join("");
    if (removed) parts.before.push({ start: old, end: old + length });
    else if (added) parts.after.push({ start: fresh, end: fresh + length });
    else shared += value.reduce((sum, word) => sum + word.trim().length, 0);
    if (!added) old += length;
    if (!removed) fresh += length;
  }
  return shared < LEAST_SHARED * Math.max(before.trim().length, after.trim().length) ? undefined : parts;
}
