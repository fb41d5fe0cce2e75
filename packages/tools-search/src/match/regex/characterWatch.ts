/** Reads text of UTF-8 byte by byte and notices when one of a few characters is complete. */
export class CharacterWatch {
  /** The states of partly read characters, by number; 0 is none. */
  readonly #begun: string[] = [""];
  readonly #complete: ReadonlySet<string>;

  constructor(characters: Iterable<string>) {
    // A string with one character for each byte.
    const encoded = Array.from(characters, (character) => Buffer.from(character).toString("latin1"));
    this.#complete = new Set(encoded);
    for (const bytes of this.#complete) {
      for (let length = 1; length < bytes.length; length++) {
        const begun = bytes.slice(0, length);
        if (!this.#begun.includes(begun)) this.#begun.push(begun);
      }
    }
  }

  /** The state after one more byte. */
  next(begun: number, byte: number): number | "complete" {
    const bytes = this.#begun[begun] + String.fromCharCode(byte);
    return this.#complete.has(bytes) ? "complete" : Math.max(0, this.#begun.indexOf(bytes));
  }

  /** Bytes with the same answer make no difference. */
  kind(byte: number): string {
    return this.#begun.map((_, begun) => this.next(begun, byte)).join();
  }
}
