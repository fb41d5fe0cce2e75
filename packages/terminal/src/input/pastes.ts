const LONG_LINES = 10;
const LONG_TEXT = 2000;
const MOST_KEPT = 100;
const TOKEN = /\[pasted \d+ (?:lines|characters)(?: #\d+)?\]/g;

/**
 * Large pastes, shown on the line as `[pasted 5000 lines]` and restored when the message is sent. The newest are kept:
 * a message that is not delivered returns to the line as it was typed.
 */
export class Pastes {
  readonly #contents = new Map<string, string>();

  /** The text for the line: the paste itself, or a short placeholder for a long one. */
  collapse(text: string): string {
    // A newline ends the last line; it does not start another.
    const lines = text.replace(/\n$/, "").split("\n").length;
    if (lines <= LONG_LINES && text.length <= LONG_TEXT) return text;
    const size = lines > LONG_LINES ? `${lines} lines` : `${text.length} characters`;
    let token = `[pasted ${size}]`;
    for (let count = 2; this.#contents.has(token) && this.#contents.get(token) !== text; count++) {
      token = `[pasted ${size} #${count}]`;
    }
    this.#contents.set(token, text);
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > MOST_KEPT && oldest !== undefined) this.#contents.delete(oldest);
    return token;
  }

  /** The text with every placeholder replaced with its paste. */
  expand(text: string): string {
    return text.replace(TOKEN, (token) => this.#contents.get(token) ?? token);
  }

  /** The placeholder that ends at the cursor: one key removes all of it. */
  endingAt(text: string, cursor: number): string | undefined {
    return [...text.slice(0, cursor).matchAll(TOKEN)]
      .filter(([token, ...rest]) => rest.length === 0 && this.#contents.has(token))
      .map(([token]) => token)
      .find((token) => text.slice(0, cursor).endsWith(token));
  }
}
