import { eastAsianWidth } from "get-east-asian-width";

const PLAIN_ASCII = /^[\x20-\x7e]*$/;
// Letters that are each one grapheme: none of them combines with another.
const SINGLE_LETTERS =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u3041-\u3096\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colour codes this display writes itself
const STYLE_CODE = /\x1b\[[0-9;]*m/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const STYLE_CODES = /\x1b\[[0-9;]*m/g;
/** The opening codes that each closing code ends. */
const CLOSED_BY: Readonly<Record<string, RegExp>> = {
  "\x1b[0m": /./,
  "\x1b[22m": /\[[12]m$/,
  "\x1b[23m": /\[3m$/,
  "\x1b[24m": /\[4m$/,
  "\x1b[27m": /\[7m$/,
  "\x1b[29m": /\[9m$/,
  "\x1b[39m": /\[3\dm$/,
};
const COMBINING = /^\p{M}/u;
// Rendered as an emoji, two columns wide, whatever the width of its first character: ❤️, 👩‍💻, 🇪🇺.
const PICTURE = /\p{Emoji_Presentation}|\ufe0f|\u200d/u;
// Closing punctuation: no row begins with it.
const CLOSING = /^[\p{Pe}\p{Pf}、。，．：；！？…,.:;!?]$/u;
const TAB_STOP = 8;
// Longer lines are not wrapped between words: users do not read such a paragraph, and finding words takes time.
const LONGEST_PROSE = 20_000;

// Intl.Segmenter is quadratic on Node 20, so long text is segmented in slices.
const SLICE = 256;
const HALF_AT_END = /[\ud800-\udbff]$/;

/**
 * Created lazily: an Intl.Segmenter takes longer to create than the rest of the start, and most sessions begin with
 * ASCII.
 */
class LazySegmenter {
  #segmenter: Intl.Segmenter | undefined;

  split(text: string): string[] {
    this.#segmenter ??= new Intl.Segmenter();
    return Array.from(this.#segmenter.segment(text), ({ segment }) => segment);
  }
}

const SEGMENTER = new LazySegmenter();

/** The graphemes of a text: an emoji with its modifiers, or a letter with its accents, is one. */
export function graphemes(text: string): readonly string[] {
  if (SINGLE_LETTERS.test(text)) return text.split("");
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    // Do not cut between the two halves of a surrogate pair.
    const slice =
      text.slice(start, start + SLICE).replace(HALF_AT_END, "") || text.slice(start, start + SLICE);
    const parts = SEGMENTER.split(slice);
    // The last grapheme may continue after the slice: leave it for the next one, unless it fills a slice alone.
    const last = start + slice.length < text.length && parts.length > 1 ? (parts.pop() ?? "") : "";
    for (const part of parts) found.push(part);
    start += slice.length - last.length;
  }
  return found;
}

/** The columns of one grapheme on a terminal. */
function graphemeWidth(grapheme: string): number {
  if (PLAIN_ASCII.test(grapheme)) return grapheme.length;
  if (COMBINING.test(grapheme)) return 0;
  if (PICTURE.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** The columns of a text without style codes, tabs or line breaks. */
export function textWidth(text: string): number {
  if (PLAIN_ASCII.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The start of a plain text that fits into `width` columns, with `…` if it was truncated. */
export function cutToWidth(text: string, width: number): string {
  // Nothing past this many UTF-16 units can be shown; a line of a megabyte must not be measured whole.
  const candidate = text.length > width * 8 ? text.slice(0, width * 8) : text;
  if (candidate === text && textWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const grapheme of graphemes(candidate)) {
    const columns = graphemeWidth(grapheme);
    if (used + columns > width - 1) break;
    kept += grapheme;
    used += columns;
  }
  return width > 0 ? `${kept}…` : "";
}

/** Tabs as the spaces a terminal would show, so that columns can be counted. */
export function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  const parts: string[] = [];
  let column = 0;
  for (const part of line.split(/(\t)/)) {
    const shown = part === "\t" ? " ".repeat(TAB_STOP - (column % TAB_STOP)) : part;
    column += textWidth(shown);
    parts.push(shown);
  }
  return parts.join("");
}

/**
 * Wraps one line, styled or not, into rows of at most `width` columns. A style that is open where a row ends is closed
 * there and opened again on the next row, so that each row can be drawn by itself.
 */
export function wrapRows(line: string, width: number): string[] {
  if (line.length <= width && PLAIN_ASCII.test(line)) return [line];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  const styles = new OpenStyles();
  for (const piece of splitStyles(expandTabs(line))) {
    if (piece.style) {
      styles.add(piece.text);
      row += piece.text;
      continue;
    }
    for (const grapheme of graphemes(piece.text)) {
      const columns = graphemeWidth(grapheme);
      if (used + columns > width && used > 0) {
        rows.push(styles.codes === "" ? row : `${row}\x1b[0m`);
        row = styles.codes;
        used = 0;
      }
      row += grapheme;
      used += columns;
    }
  }
  rows.push(row);
  return rows;
}

/**
 * Like `wrapRows`, but wraps between words if possible; the blanks at a break are dropped. The rows after the first
 * begin `indent` columns in.
 */
export function wrapWords(line: string, width: number, indent = 0): string[] {
  return wrapBetweenWords(line, width, indent, false);
}

/** Like `wrapWords`, for text in which every blank matters: the rows without their indent are the line. */
export function wrapLine(line: string, width: number, indent = 0): string[] {
  return wrapBetweenWords(line, width, indent, true);
}

function wrapBetweenWords(line: string, width: number, indent: number, keepsBlanks: boolean): string[] {
  if (line.length <= width && PLAIN_ASCII.test(line)) return [line];
  if (line.length > LONGEST_PROSE) {
    const margin = " ".repeat(indent);
    return wrapRows(line, width - indent).map((row, at) => (at === 0 ? row : margin + row));
  }
  if (!line.includes("\t") && styledWidth(line) <= width) return [line];
  const cells = cellsOf(expandTabs(line));
  const rows: string[] = [];
  const open = new OpenStyles();
  for (let start = 0; start < cells.length || rows.length === 0; ) {
    const margin = rows.length === 0 ? 0 : indent;
    const { end, next } = rowEnd(cells, start, width - margin, keepsBlanks);
    let row = " ".repeat(margin) + open.codes;
    for (const cell of cells.slice(start, end)) {
      row += cell.styles + cell.text;
      open.add(cell.styles);
    }
    rows.push(open.codes === "" ? row : `${row}\x1b[0m`);
    // Style codes among the dropped blanks apply to the next row.
    for (const cell of cells.slice(end, next)) open.add(cell.styles);
    start = next;
  }
  return rows;
}

/**
 * The style codes in effect at a position in a line. A code that was closed again, or repeats an open one, is dropped.
 */
class OpenStyles {
  #held: string[] = [];

  add(codes: string): void {
    if (codes === "") return;
    for (const code of codes.match(STYLE_CODES) ?? []) {
      const closed = CLOSED_BY[code];
      if (closed) this.#held = this.#held.filter((other) => !closed.test(other));
      else if (!this.#held.includes(code)) this.#held.push(code);
    }
  }

  get codes(): string {
    return this.#held.join("");
  }
}

interface Cell {
  /** The style codes before it. */
  readonly styles: string;
  readonly text: string;
  readonly columns: number;
}

/** Where the row that begins at `start` ends, and where the next one begins. */
function rowEnd(
  cells: readonly Cell[],
  start: number,
  width: number,
  keepsBlanks: boolean,
): { end: number; next: number } {
  let used = 0;
  let fits = start;
  for (; fits < cells.length; fits++) {
    used += cells[fits]?.columns ?? 0;
    if (used > width && fits > start) break;
  }
  if (fits >= cells.length) return { end: cells.length, next: cells.length };
  let next = fits;
  if (!keepsBlanks) while (isBlank(cells[next])) next++;
  while (next > start && !canBreak(cells, next)) next--;
  let end = next;
  while (!keepsBlanks && end > start && isBlank(cells[end - 1])) end--;
  // The word is longer than a row, so it has to be broken anyway: begin it on this row.
  if (end === start || isWider(cells, next, width)) return { end: fits, next: fits };
  return { end, next };
}

/** Whether a row may end before this cell: after blanks, and next to a character two columns wide. */
function canBreak(cells: readonly Cell[], at: number): boolean {
  const [before, after] = [cells[at - 1], cells[at]];
  if (isBlank(before)) return !isBlank(after);
  const isBesideWide = before?.columns === 2 || after?.columns === 2;
  return isBesideWide && after !== undefined && !isBlank(after) && !CLOSING.test(after.text);
}

function isBlank(cell: Cell | undefined): boolean {
  return cell?.text === " ";
}

/** Whether the word at `start` takes more columns than a row has. */
function isWider(cells: readonly Cell[], start: number, width: number): boolean {
  let used = 0;
  for (let at = start; at < cells.length && !isBlank(cells[at]); at++) {
    if (at > start && canBreak(cells, at)) return false;
    used += cells[at]?.columns ?? 0;
    if (used > width) return true;
  }
  return false;
}

function cellsOf(line: string): Cell[] {
  const cells: Cell[] = [];
  let styles = "";
  for (const { style, text } of splitStyles(line)) {
    if (style) styles += text;
    else {
      for (const grapheme of graphemes(text)) {
        cells.push({ styles, text: grapheme, columns: graphemeWidth(grapheme) });
        styles = "";
      }
    }
  }
  if (styles !== "") cells.push({ styles, text: "", columns: 0 });
  return cells;
}

/** The start of a line that may contain style codes, as far as it fits into one row. */
export function clipRow(line: string, width: number): string {
  return styledWidth(line) <= width ? line : (wrapRows(line, width)[0] ?? "");
}

/** The width of a line that may contain style codes, in columns. */
export function styledWidth(line: string): number {
  return splitStyles(line).reduce((sum, { style, text }) => sum + (style ? 0 : textWidth(text)), 0);
}

function splitStyles(line: string): { readonly style: boolean; readonly text: string }[] {
  const pieces: { style: boolean; text: string }[] = [];
  let start = 0;
  for (let at = line.indexOf("\x1b"); at !== -1; at = line.indexOf("\x1b", start)) {
    STYLE_CODE.lastIndex = at;
    const code = STYLE_CODE.exec(line)?.[0] ?? "\x1b";
    if (at > start) pieces.push({ style: false, text: line.slice(start, at) });
    pieces.push({ style: true, text: code });
    start = at + code.length;
  }
  if (start < line.length) pieces.push({ style: false, text: line.slice(start) });
  return pieces;
}
