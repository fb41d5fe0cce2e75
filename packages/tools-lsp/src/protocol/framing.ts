/** The maximum message size of a server: the references of a large project are a few megabytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_HEADER_BYTES = 4 * 1024;
/** The maximum size of other output between two messages. */
const MAX_NOISE_BYTES = 1024 * 1024;

const HEADER =
  /content-length:[ \t]*(\d{1,15})[ \t]*\r?\n(?:(?!content-length)[\w-]{1,40}:[^\r\n]{0,200}\r?\n){0,4}\r?\n/i;
const HEADER_START = /content-length:/i;

/** Writes one message with its header. */
export function encodeMessage(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1"), body]);
}

/**
 * Splits the output of a server into messages. Text between messages is skipped, since some servers print to standard
 * output; a server that prints too much of it, or sends a message that is too large, is reported as broken.
 */
export class MessageReader {
  readonly #onMessage: (text: string) => void;
  readonly #onBroken: (reason: string) => void;
  /** Bytes that are not part of a known body yet. */
  #head: Buffer = Buffer.alloc(0);
  #body: Buffer[] = [];
  #missing = 0;
  #noise = 0;
  #broken = false;

  constructor(onMessage: (text: string) => void, onBroken: (reason: string) => void) {
    this.#onMessage = onMessage;
    this.#onBroken = onBroken;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#broken) {
      rest = this.#missing > 0 ? this.#takeBody(rest) : this.#takeHeader(rest);
    }
  }

  #takeBody(chunk: Buffer): Buffer {
    const part = chunk.subarray(0, this.#missing);
    this.#body.push(part);
    this.#missing -= part.length;
    if (this.#missing === 0) {
      const text = Buffer.concat(this.#body).toString("utf8");
      this.#body = [];
      this.#noise = 0;
      this.#onMessage(text);
    }
    return chunk.subarray(part.length);
  }

  /** Searches for a header in the data so far, and returns the data after it. */
  #takeHeader(chunk: Buffer): Buffer {
    // Only a little of the chunk is searched at a time: the rest may be a body of megabytes.
    const taken = chunk.subarray(0, MAX_HEADER_BYTES);
    this.#head = Buffer.concat([this.#head, taken]);
    const after = chunk.subarray(taken.length);
    const text = this.#head.toString("latin1");
    const header = HEADER.exec(text);
    if (header) {
      const length = Number(header[1]);
      if (length > MAX_MESSAGE_BYTES) {
        this.#break(`it sent a message of ${length} bytes, more than ${MAX_MESSAGE_BYTES}`);
        return after;
      }
      this.#noise += header.index;
      const rest = this.#head.subarray(header.index + header[0].length);
      this.#head = Buffer.alloc(0);
      this.#missing = length;
      return rest.length === 0 ? after : Buffer.concat([rest, after]);
    }
    this.#keepPossibleHeader(text);
    if (this.#noise > MAX_NOISE_BYTES) this.#break("its output is not the language server protocol");
    return after;
  }

  #keepPossibleHeader(text: string): void {
    const start = HEADER_START.exec(text)?.index ?? Math.max(0, text.length - "content-length:".length);
    const tooLong = text.length - start > 2 * MAX_HEADER_BYTES;
    const from = tooLong ? text.length : start;
    this.#noise += from;
    this.#head = this.#head.subarray(from);
  }

  #break(reason: string): void {
    this.#broken = true;
    this.#head = Buffer.alloc(0);
    this.#body = [];
    this.#onBroken(reason);
  }
}
