import type { Style } from "../text/style.js";

const MARK = /[`*_~[]/g;
const WORD_OR_MARK = /[\w*~]/;
const BLANK = /\s/;
// Longer lines are not parsed for inline styles: they are generated, not prose.
const LONGEST_INLINE = 2000;
// A delimiter inside a word, as in snake_case, closes nothing. At most this many further delimiters are tried.
const MOST_CLOSINGS = 8;

/** A styled part of a text: its end, and how it is shown. */
interface Span {
  readonly end: number;
  readonly shown: string;
}

/**
 * Styles code, bold, italic, strikethrough and links in a line. The search for a closing delimiter is bounded, so a
 * text that consists only of delimiters takes no longer than any other.
 */
export function renderInline(text: string, style: Style): string {
  if (text.length > LONGEST_INLINE) return text;
  const scanner = new InlineScanner(text, style);
  let rendered = "";
  let start = 0;
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(text); mark !== null; mark = MARK.exec(text)) {
    const span = scanner.spanAt(mark.index);
    if (!span) continue;
    rendered += text.slice(start, mark.index) + span.shown;
    start = span.end;
    MARK.lastIndex = span.end;
  }
  return rendered + text.slice(start);
}

class InlineScanner {
  readonly #text: string;
  readonly #style: Style;

  constructor(text: string, style: Style) {
    this.#text = text;
    this.#style = style;
  }

  spanAt(at: number): Span | undefined {
    const text = this.#text;
    const mark = text[at] ?? "";
    if (mark === "`") return this.#code(at);
    if (mark === "[") return this.#link(at);
    const { bold, italic, strike } = this.#style;
    if (text.startsWith(mark.repeat(2), at)) {
      // Four delimiters in a row, or delimiters without text, are plain text.
      return this.#marked(at, mark.repeat(2), mark === "~" ? strike : bold);
    }
    return mark === "~" ? undefined : this.#marked(at, mark, italic);
  }

  /** A code span: closed by as many backticks as it was opened with, with none inside. */
  #code(at: number): Span | undefined {
    const open = this.#ticksAt(at);
    if (this.#text[at - 1] === "`") return undefined;
    const close = this.#text.indexOf("`", at + open);
    if (close === -1 || this.#ticksAt(close) !== open) return undefined;
    const { dim, cyan } = this.#style;
    const ticks = dim("`".repeat(open));
    return { end: close + open, shown: ticks + cyan(this.#text.slice(at + open, close)) + ticks };
  }

  #marked(at: number, mark: string, paint: (text: string) => string): Span | undefined {
    const text = this.#text;
    const start = at + mark.length;
    // Two asterisks may be inside a word, as in CommonMark; every other delimiter must surround whole words.
    const wholeWords = mark !== "**";
    if (BLANK.test(text[start] ?? " ") || (wholeWords && this.#isJoined(at - 1))) return undefined;
    let close = text.indexOf(mark, start + 1);
    for (let tries = 0; close !== -1 && tries < MOST_CLOSINGS; tries++) {
      const end = close + mark.length;
      const isEnd = !BLANK.test(text[close - 1] ?? " ") && !(wholeWords && this.#isJoined(end));
      if (isEnd && text[close - 1] !== mark[0] && text[end] !== mark[0]) {
        const { dim } = this.#style;
        return { end, shown: dim(mark) + paint(text.slice(start, close)) + dim(mark) };
      }
      close = text.indexOf(mark, end);
    }
    return undefined;
  }

  #link(at: number): Span | undefined {
    const label = this.#text.indexOf("]", at + 1);
    if (label <= at + 1 || this.#text[label + 1] !== "(") return undefined;
    const end = this.#text.indexOf(")", label + 2);
    if (end <= label + 2) return undefined;
    const { dim, underline } = this.#style;
    const [words, url] = [this.#text.slice(at + 1, label), this.#text.slice(label + 2, end)];
    if (BLANK.test(url)) return undefined;
    return { end: end + 1, shown: `[${underline(words)}](${dim(url)})` };
  }

  #isJoined(at: number): boolean {
    return WORD_OR_MARK.test(this.#text[at] ?? " ");
  }

  #ticksAt(at: number): number {
    let end = at;
    while (this.#text[end] === "`") end++;
    return end - at;
  }
}
