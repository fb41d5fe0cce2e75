/** One line of a text: its characters are `start`…`end`, the next line starts at `next`. */
export interface Line {
  readonly start: number;
  /** Where its line ending begins: `\n`, `\r\n` or the end of the text. */
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

/** The text with every line ending replaced with `eol`. */
export function withLineBreaks(text: string, eol: string): string {
  return text.replace(/\r\n|\n/g, eol);
}

/**
 * Returns a function that returns `text` with a kind of line ending; `undefined` leaves it unchanged. Each variant is
 * built once: a text may be needed at a million places.
 */
export function lineBreakVariants(text: string): (eol: string | undefined) => string {
  const variants = new Map<string, string>();
  return (eol) => {
    if (eol === undefined) return text;
    const variant = variants.get(eol) ?? withLineBreaks(text, eol);
    variants.set(eol, variant);
    return variant;
  };
}

/**
 * Finds the line ending in use at a region: the first one from its start, else the last one of the text. Keeps the last
 * newline found, so that regions in ascending order cost one pass: a line may be as long as the file.
 */
export function lineBreakFinder(text: string): (start: number) => string | undefined {
  // The first newline at or after `from`.
  let [from, newline] = [0, text.indexOf("\n")];
  const last = text.lastIndexOf("\n");
  return (start) => {
    if (start < from || (newline !== -1 && newline < start)) {
      [from, newline] = [start, text.indexOf("\n", start)];
    }
    const at = newline === -1 ? last : newline;
    if (at === -1) return undefined;
    return text[at - 1] === "\r" ? "\r\n" : "\n";
  };
}

/** The lines of a text that are not blank. */
export function contentLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}
