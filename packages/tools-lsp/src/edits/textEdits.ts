import type { DiffHunk, FileDiff } from "@agent/core";
import type { Position, TextEdit } from "../protocol/messages.js";

const CONTEXT = 3;

/** A part of a text that is replaced. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** A text with the start of each line. A server counts lines by LF, CRLF and CR. */
class Lines {
  readonly text: string;
  readonly starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
    this.starts = starts;
  }

  offset({ line, character }: Position): number {
    const start = this.starts[line];
    if (start === undefined) throw new Error(`an edit is on line ${line + 1}, which the file does not have`);
    const end = this.starts[line + 1] ?? this.text.length;
    if (start + character > end) throw new Error(`an edit is after the end of line ${line + 1}`);
    return start + character;
  }
}

/** The replacements in the order of the text. Throws for edits outside of it, or that overlap. */
export function replacementsOf(text: string, edits: readonly TextEdit[]): Replacement[] {
  const lines = new Lines(text);
  const found = edits
    .map(({ range, newText }) => ({
      start: lines.offset(range.start),
      end: lines.offset(range.end),
      newText,
    }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  for (const [index, { start, end }] of found.entries()) {
    if (end < start) throw new Error("an edit ends before it begins");
    if (start < (found[index - 1]?.end ?? 0)) throw new Error("two edits overlap");
  }
  return found;
}

export function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, newText } of replacements) {
    result += text.slice(at, start) + newText;
    at = end;
  }
  return result + text.slice(at);
}

/** The diff of edits that were made in known places. */
export function diffOf(path: string, before: string, replacements: readonly Replacement[]): FileDiff {
  const { starts } = new Lines(before);
  const lines = before.split(/\r\n|\n|\r/);
  const lineAt = (offset: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  // Neighbouring changes are one block, so that no line appears twice.
  const blocks: { first: number; last: number; replacements: Replacement[] }[] = [];
  for (const one of replacements) {
    const [first, last] = [lineAt(one.start), lineAt(one.end)];
    const block = blocks.at(-1);
    if (block && first <= block.last) {
      block.last = Math.max(block.last, last);
      block.replacements.push(one);
    } else blocks.push({ first, last, replacements: [one] });
  }
  const hunks: { oldStart: number; newStart: number; lines: string[]; end: number }[] = [];
  let added = 0;
  let removed = 0;
  for (const { first, last, replacements: inside } of blocks) {
    const start = starts[first] ?? 0;
    const end = starts[last + 1] ?? before.length;
    const shifted = inside.map((one) => ({ ...one, start: one.start - start, end: one.end - start }));
    const old = before.slice(start, end);
    const newLines = applyReplacements(old, shifted)
      .replace(/(\r\n|\n|\r)$/, "")
      .split(/\r\n|\n|\r/);
    const from = Math.max(0, first - CONTEXT);
    let hunk = hunks.at(-1);
    if (!hunk || from > hunk.end) {
      hunk = { oldStart: from + 1, newStart: from + 1 + added - removed, lines: [], end: from };
      hunks.push(hunk);
    } else {
      // The context after the change before ends where this one begins.
      hunk.lines.splice(hunk.lines.length - Math.max(0, hunk.end - first));
      hunk.end = Math.min(hunk.end, first);
    }
    hunk.lines.push(...lines.slice(hunk.end, first).map((line) => ` ${line}`));
    hunk.lines.push(...lines.slice(first, last + 1).map((line) => `-${line}`));
    hunk.lines.push(...newLines.map((line) => `+${line}`));
    hunk.end = Math.min(lines.length, last + 1 + CONTEXT);
    hunk.lines.push(...lines.slice(last + 1, hunk.end).map((line) => ` ${line}`));
    removed += last - first + 1;
    added += newLines.length;
  }
  const shown: DiffHunk[] = hunks.map(({ oldStart, newStart, lines: all }) => ({
    oldStart,
    newStart,
    lines: all,
  }));
  return { path, change: "edited", added, removed, hunks: shown };
}
