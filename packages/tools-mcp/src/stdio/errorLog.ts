import { escapeInvisible, truncateUtf8Start } from "@agent/core/toolkit";

const MAX_BYTES = 64 * 1024;
const MAX_SHOWN_BYTES = 2000;

/** The end of a server's standard error: bounded, and redacted when it is shown. */
export class ErrorLog {
  readonly #redact: (text: string) => string;
  #text = "";

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(chunk: string): void {
    this.#text += chunk;
    // Truncated at twice the size, so that a verbose server costs no copy for every chunk.
    if (this.#text.length > 2 * MAX_BYTES) this.#text = this.#text.slice(-MAX_BYTES);
  }

  /** The last lines, safe to display; empty if there were none. */
  tail(): string {
    const text = this.#redact(this.#text.slice(-MAX_BYTES)).trim();
    return escapeInvisible(truncateUtf8Start(text, MAX_SHOWN_BYTES));
  }
}
