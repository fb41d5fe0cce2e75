// Private-use characters around the number of a quoted text.
const OPEN = "\u{e000}";
const CLOSE = "\u{e001}";
const HIDDEN = new RegExp(`${OPEN}(\\d+)${CLOSE}`, "g");

/** Matches the placeholder of a quoted text while a request is read. */
export const QUOTED = `${OPEN}\\d+${CLOSE}`;
/** Characters that no unquoted word contains. */
export const QUOTE_MARKS = `"'\`${OPEN}${CLOSE}`;

/**
 * The quoted texts of a request. While it is read, each is replaced by a short placeholder, so that nothing inside
 * quotes is taken for a word of the sentence, and a long text costs no more than a short one.
 */
export class Quotes {
  readonly #texts: string[] = [];

  /** The text with everything in quotes hidden. */
  hide(text: string): string {
    let hidden = "";
    for (let index = 0; index < text.length; index++) {
      const end = closingQuote(text, index);
      if (end === -1) {
        const character = text[index] ?? "";
        if (character !== OPEN && character !== CLOSE) hidden += character;
      } else {
        hidden += this.add(text.slice(index, end + 1));
        index = end;
      }
    }
    return hidden;
  }

  /** Hides one text, quotes included. */
  add(quoted: string): string {
    return `${OPEN}${this.#texts.push(quoted) - 1}${CLOSE}`;
  }

  /** The text as it was, quotes included. */
  restore(text: string): string {
    return text.replace(HIDDEN, (_, index: string) => this.#texts[Number(index)] ?? "");
  }

  /** The text without its quotes, if it is one quoted text as a whole; else `undefined`. */
  inside(text: string): string | undefined {
    const [whole, index] = text.match(new RegExp(`^${OPEN}(\\d+)${CLOSE}$`)) ?? [];
    return whole === undefined ? undefined : this.#texts[Number(index)]?.slice(1, -1);
  }
}

/** Where the quote that opens here closes; -1 if none opens. An apostrophe inside a word opens nothing. */
function closingQuote(text: string, index: number): number {
  const character = text[index] ?? "";
  if (character !== '"' && character !== "`" && character !== "'") return -1;
  if (character === "'" && /\w/.test(text[index - 1] ?? "")) return -1;
  return text.indexOf(character, index + 1);
}
