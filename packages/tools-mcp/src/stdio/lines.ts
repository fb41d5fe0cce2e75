/** The maximum size of one message. Servers send images and whole files as one line. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Splits a stream of bytes into lines. Memory is bounded by the maximum line length. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** `onTooLong` is called once a line exceeds the limit; the rest of that line is dropped. */
  constructor(onLine: (line: string) => void, onTooLong: () => void) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  #add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const before = this.#bytes;
    this.#bytes += piece.length;
    if (this.#bytes <= MAX_LINE_BYTES) {
      this.#pieces.push(piece);
    } else if (before <= MAX_LINE_BYTES) {
      this.#pieces = [];
      this.#onTooLong();
    }
  }

  #emit(): void {
    const pieces = this.#pieces;
    const isWhole = this.#bytes <= MAX_LINE_BYTES;
    this.#pieces = [];
    this.#bytes = 0;
    if (!isWhole || pieces.length === 0) return;
    const line = Buffer.concat(pieces).toString("utf8");
    this.#onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  }
}
