const PLAIN_ASCII = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colour codes this display writes itself
const STYLE_CODE = /\x1b\[[0-9;]*m/y;
const COMBINING = /^\p{M}/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|\ufe0f/u;
const TAB_STOP = 8;

let segmenter: Intl.Segmenter | undefined;

/** The characters as a person counts them: an emoji with its modifiers, or a letter with its accents, is one. */
export function graphemes(text: string): readonly string[] {
  if (PLAIN_ASCII.test(text)) return text.split("");
  // Made on first need: most sessions start with plain text, and the prompt should not wait for it.
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The columns of one grapheme on a terminal. */
function graphemeWidth(grapheme: string): number {
  if (PLAIN_ASCII.test(grapheme)) return grapheme.length;
  if (COMBINING.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** The columns of a text without style codes, tabs or line breaks. */
export function textWidth(text: string): number {
  if (PLAIN_ASCII.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The start of a plain text that fits into `width` columns, with `…` where something is missing. */
export function cutToWidth(text: string, width: number): string {
  // Nothing past this many units can be shown; a line of a megabyte must not be measured whole.
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
  let expanded = "";
  for (const part of line.split(/(\t)/)) {
    expanded += part === "\t" ? " ".repeat(TAB_STOP - (textWidth(expanded) % TAB_STOP)) : part;
  }
  return expanded;
}

/**
 * Breaks one line, styled or not, into rows of at most `width` columns. A style that is open where a row
 * ends is closed there and opened again on the next row, so that each row can be drawn by itself.
 */
export function wrapRows(line: string, width: number): string[] {
  if (line.length <= width && PLAIN_ASCII.test(line)) return [line];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  let styles = "";
  for (const piece of splitStyles(expandTabs(line))) {
    if (piece.style) {
      styles += piece.text;
      row += piece.text;
      continue;
    }
    for (const grapheme of graphemes(piece.text)) {
      const columns = graphemeWidth(grapheme);
      if (used + columns > width && used > 0) {
        rows.push(styles === "" ? row : `${row}\x1b[0m`);
        row = styles;
        used = 0;
      }
      row += grapheme;
      used += columns;
    }
  }
  rows.push(row);
  return rows;
}

/** The start of a line that may hold style codes, as far as it fits into one row. */
export function clipRow(line: string, width: number): string {
  return styledWidth(line) <= width ? line : (wrapRows(line, width)[0] ?? "");
}

/** The columns of a line that may hold style codes. */
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
