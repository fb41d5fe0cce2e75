import type { TextEdit } from "@agent/core/toolkit";
import type { Position, TextEdit as ServerEdit } from "../protocol/messages.js";

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

/** The edits of a server in the order of the text. Throws for edits outside of it, or that overlap. */
export function editsOf(text: string, edits: readonly ServerEdit[]): TextEdit[] {
  const lines = new Lines(text);
  const found = edits
    .map(({ range, newText }) => ({
      start: lines.offset(range.start),
      end: lines.offset(range.end),
      replacement: newText,
    }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  for (const [index, { start, end }] of found.entries()) {
    if (end < start) throw new Error("an edit ends before it begins");
    if (start < (found[index - 1]?.end ?? 0)) throw new Error("two edits overlap");
  }
  return found;
}
