import type { Style } from "./style.js";

const MARK = /[`*[]/g;
const WORD_OR_STAR = /[\w*]/;
const BLANK = /\s/;
// Inline marks are only worth their time on lines that a person wrote.
const LONGEST_INLINE = 2000;

/** A marked part of a text: where it ends, and how it is shown. */
interface Span {
  readonly end: number;
  readonly shown: string;
}

/**
 * Marks up code, bold and italic words and links in a line. Reads the text once from left to right: a text made of
 * nothing but marks takes no longer than any other.
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
  /** The next character of a kind that was looked for, so that it is looked for once. */
  readonly #next = new Map<string, number>();

  constructor(text: string, style: Style) {
    this.#text = text;
    this.#style = style;
  }

  spanAt(at: number): Span | undefined {
    const text = this.#text;
    if (text[at] === "`") return this.#code(at);
    if (text[at] === "[") return this.#link(at);
    return text[at + 1] === "*" ? this.#bold(at) : this.#italic(at);
  }

  /** As many backticks as it was opened with close it, and none stand between. */
  #code(at: number): Span | undefined {
    const open = this.#ticksAt(at);
    if (this.#text[at - 1] === "`") return undefined;
    const close = this.#find("`", at + open);
    if (close === -1 || this.#ticksAt(close) !== open) return undefined;
    const { dim, cyan } = this.#style;
    const ticks = dim("`".repeat(open));
    return { end: close + open, shown: ticks + cyan(this.#text.slice(at + open, close)) + ticks };
  }

  #bold(at: number): Span | undefined {
    const close = this.#closingStar(at + 2);
    if (close === undefined || this.#text[close + 1] !== "*") return undefined;
    const { dim, bold } = this.#style;
    return { end: close + 2, shown: dim("**") + bold(this.#text.slice(at + 2, close)) + dim("**") };
  }

  #italic(at: number): Span | undefined {
    const close = this.#closingStar(at + 1);
    if (close === undefined || this.#isJoined(at - 1) || this.#isJoined(close + 1)) return undefined;
    const { dim, italic } = this.#style;
    return { end: close + 1, shown: dim("*") + italic(this.#text.slice(at + 1, close)) + dim("*") };
  }

  #link(at: number): Span | undefined {
    const label = this.#find("]", at + 1);
    if (label <= at + 1 || this.#text[label + 1] !== "(") return undefined;
    const end = this.#find(")", label + 2);
    if (end <= label + 2) return undefined;
    const { dim, underline } = this.#style;
    const [words, url] = [this.#text.slice(at + 1, label), this.#text.slice(label + 2, end)];
    if (BLANK.test(url)) return undefined;
    return { end: end + 1, shown: `[${underline(words)}](${dim(url)})` };
  }

  /** Where the star is that ends the words at `start`, if there are words. */
  #closingStar(start: number): number | undefined {
    const close = this.#find("*", start);
    const isEmpty = close <= start || BLANK.test(this.#text[start] ?? " ");
    return isEmpty ? undefined : close;
  }

  #isJoined(at: number): boolean {
    return WORD_OR_STAR.test(this.#text[at] ?? " ");
  }

  #ticksAt(at: number): number {
    let end = at;
    while (this.#text[end] === "`") end++;
    return end - at;
  }

  /** The next such character from a place on, or -1. Places are asked for in rising order, so an old answer may serve. */
  #find(character: string, from: number): number {
    const known = this.#next.get(character);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    const found = this.#text.indexOf(character, from);
    this.#next.set(character, found);
    return found;
  }
}
