import type { Style } from "../text/style.js";
import type { Language } from "./languages.js";

/** A comment or string that is still open at the end of a line, with its closing delimiter; or `undefined`. */
export type OpenToken = { readonly kind: "comment" | "string"; readonly close: string } | undefined;

// Longer lines are not highlighted: they are minified code.
const LONGEST_LINE = 2000;
const WORD = /[@#!]?[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*/y;
const CALL = /\s*\(/y;
const KEY = /\s*[:=](?!=)/y;
const TYPE_NAME = /^[A-Z][\p{L}\p{N}]*\p{Ll}/u;

/** Colours one line of code; the text itself is unchanged. `open` is the token that earlier lines left open. */
export function highlightLine(
  line: string,
  language: Language,
  open: OpenToken,
  style: Style,
): { readonly text: string; readonly open: OpenToken } {
  if (line.length > LONGEST_LINE) return { text: line, open };
  const painter = new LinePainter(line, language, style);
  return painter.paint(open);
}

class LinePainter {
  readonly #line: string;
  readonly #language: Language;
  readonly #style: Style;
  #at = 0;
  #text = "";

  constructor(line: string, language: Language, style: Style) {
    this.#line = line;
    this.#language = language;
    this.#style = style;
  }

  paint(open: OpenToken): { text: string; open: OpenToken } {
    let pending = open;
    if (pending) pending = this.#closing(pending, 0);
    while (!pending && this.#at < this.#line.length) pending = this.#next();
    return { text: this.#text, open: pending };
  }

  #next(): OpenToken {
    const { lineComments, blockComment, quotes } = this.#language;
    const starts = (mark: string): boolean => this.#line.startsWith(mark, this.#at);
    if (lineComments.some((mark) => starts(mark) && this.#isCommentPlace(mark))) {
      this.#take(this.#line.length, this.#style.dim);
      return undefined;
    }
    if (blockComment && starts(blockComment[0])) {
      return this.#closing({ kind: "comment", close: blockComment[1] }, blockComment[0].length);
    }
    const quote = quotes.find(starts);
    if (quote !== undefined) return this.#string(quote);
    this.#word();
    return undefined;
  }

  /** `#` inside a word, as in `a#b` or `$#`, does not start a comment. */
  #isCommentPlace(mark: string): boolean {
    return mark !== "#" || this.#at === 0 || /[\s;(]/.test(this.#line[this.#at - 1] ?? " ");
  }

  #string(quote: string): OpenToken {
    const token = { kind: "string", close: quote } as const;
    if (this.#language.multiline.includes(quote)) return this.#closing(token, quote.length);
    const end = findClose(this.#line, this.#at + quote.length, token);
    if (end === -1) {
      // An apostrophe in prose or in a Rust lifetime does not start a string.
      this.#take(this.#at + quote.length, (text) => text);
      return undefined;
    }
    const isKey = this.#language.keys === true && matches(KEY, this.#line, end);
    this.#take(end, isKey ? this.#style.blue : this.#style.green);
    return undefined;
  }

  /** Paints up to the end of an open token, or the whole line. `skip` is the length of its opening delimiter. */
  #closing(token: NonNullable<OpenToken>, skip: number): OpenToken {
    const end = findClose(this.#line, this.#at + skip, token);
    this.#take(
      end === -1 ? this.#line.length : end,
      token.kind === "comment" ? this.#style.dim : this.#style.green,
    );
    return end === -1 ? token : undefined;
  }

  #word(): void {
    const { keywords, anyCase, keys } = this.#language;
    const { magenta, cyan, blue, yellow } = this.#style;
    const number = matchAt(NUMBER, this.#line, this.#at);
    if (number !== undefined) {
      this.#take(this.#at + number.length, yellow);
      return;
    }
    const word = matchAt(WORD, this.#line, this.#at);
    if (word === undefined) {
      this.#take(this.#at + 1, (text) => text);
      return;
    }
    const end = this.#at + word.length;
    if (keywords.has(anyCase ? word.toLowerCase() : word)) this.#take(end, magenta);
    else if (keys && matches(KEY, this.#line, end)) this.#take(end, blue);
    else if (matches(CALL, this.#line, end)) this.#take(end, blue);
    else this.#take(end, TYPE_NAME.test(word) ? cyan : (text) => text);
  }

  #take(end: number, paint: (text: string) => string): void {
    this.#text += paint(this.#line.slice(this.#at, end));
    this.#at = end;
  }
}

/** The position after the token's closing delimiter; -1 if it is not on this line. In strings a backslash escapes. */
function findClose(line: string, from: number, { kind, close }: NonNullable<OpenToken>): number {
  for (let at = from; at < line.length; at++) {
    if (kind === "string" && line[at] === "\\") at++;
    else if (line.startsWith(close, at)) return at + close.length;
  }
  return -1;
}

function matchAt(pattern: RegExp, line: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0];
}

function matches(pattern: RegExp, line: string, at: number): boolean {
  return matchAt(pattern, line, at) !== undefined;
}
