/** One line of a text: its characters are `start`…`end`, the next line starts at `next`. */
export interface Line {
  readonly start: number;
  /** Where its line break begins: `\n`, `\r\n` or the end of the text. */
  readonly end: number;
  readonly next: number;
}

/** The lines of a text by position. A text that ends with a newline has no empty line after it. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const next = newline === -1 ? text.length : newline + 1;
    const last = newline === -1 ? next : newline;
    lines.push({ start, end: last > start && text[last - 1] === "\r" ? last - 1 : last, next });
    start = next;
  }
  return lines;
}

/** The index of the line that holds a position; the last line for the end of the text. */
export function lineAt(lines: readonly Line[], position: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (position >= (lines[middle]?.next ?? 0)) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low);
}

/** The text with every line break written as `eol`. */
export function withLineBreaks(text: string, eol: string): string {
  return text.replace(/\r\n|\n/g, eol);
}

/** The line break in use at a region: inside it, else of the line it ends in, else of the line before. */
export function lineBreakAt(text: string, start: number, end: number): string | undefined {
  const within = text.slice(start, end).indexOf("\n");
  const newline =
    within !== -1 ? start + within : orElse(text.indexOf("\n", end), text.lastIndexOf("\n", start));
  if (newline === -1) return undefined;
  return text[newline - 1] === "\r" ? "\r\n" : "\n";
}

function orElse(index: number, other: number): number {
  return index === -1 ? other : index;
}
