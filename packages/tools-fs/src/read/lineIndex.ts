import { afterNewline, countNewlines, type NewlineForm } from "./newlines.js";
import { readFully, readFullyAsync } from "./readBytes.js";

const SPAN_BYTES = 1024 * 1024;

/**
 * A sparse index of one file: the number of newlines before each 1 MiB span. It is built only as far as needed: the
 * first read of a far line scans all bytes before it once, later reads scan almost nothing.
 */
export class LineIndex {
  readonly #form: NewlineForm;
  /** Newlines before byte `position * SPAN_BYTES`, for every position scanned so far. */
  readonly #newlines: number[] = [0];
  /** The number of lines, once the end has been reached. */
  #lines: number | undefined;
  /** Whether the scanned part is empty or ends with a newline: if the file ends here, there is no unfinished last line. */
  #closed = true;
  #scan: Promise<unknown> = Promise.resolve();

  constructor(form: NewlineForm) {
    this.#form = form;
  }

  /** The byte at which line `line` (from 1) starts, or `undefined` if the file has fewer lines. */
  async find(fd: number, line: number, signal?: AbortSignal): Promise<number | undefined> {
    const wanted = line - 1;
    await this.#extend(fd, (newlines) => newlines >= wanted, signal);
    if (this.#lines !== undefined && line > this.#lines) return undefined;
    if (wanted === 0) return 0;
    const span = this.#spanOf(wanted);
    const buffer = Buffer.allocUnsafe(SPAN_BYTES);
    const length = readFully(fd, buffer, span * SPAN_BYTES);
    const position = afterNewline(
      buffer.subarray(0, length),
      wanted - (this.#newlines[span] ?? 0),
      this.#form,
    );
    return position === -1 ? undefined : span * SPAN_BYTES + position;
  }

  /** The number of lines of the file, or `undefined` if counting them would require reading more than `maxBytes`. */
  async total(fd: number, size: number, maxBytes: number, signal?: AbortSignal): Promise<number | undefined> {
    if (this.#lines === undefined && size - this.#scanned > maxBytes) return undefined;
    await this.#extend(fd, (_, bytes) => bytes > size + maxBytes, signal);
    return this.#lines;
  }

  /** The last span that starts before the `wanted`-th newline. */
  #spanOf(wanted: number): number {
    let low = 0;
    let high = this.#newlines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#newlines[middle] ?? 0) < wanted) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Continues scanning, one caller at a time, until `enough` or the end. */
  #extend(
    fd: number,
    enough: (newlines: number, bytes: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const work = this.#scan.then(() => this.#scanOn(fd, enough, signal));
    this.#scan = work.catch(() => undefined);
    return work;
  }

  async #scanOn(
    fd: number,
    enough: (newlines: number, bytes: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const buffer = Buffer.allocUnsafe(SPAN_BYTES);
    while (this.#lines === undefined && !enough(this.#newlines.at(-1) ?? 0, this.#scanned)) {
      const length = await readFullyAsync(fd, buffer, this.#scanned);
      signal?.throwIfAborted();
      this.#add(buffer.subarray(0, length));
    }
  }

  /** How far the file has been scanned, in bytes. */
  get #scanned(): number {
    return (this.#newlines.length - 1) * SPAN_BYTES;
  }

  /** Adds the next span to the index. A short span is the end of the file. */
  #add(span: Buffer): void {
    const newlines = (this.#newlines.at(-1) ?? 0) + countNewlines(span, this.#form);
    const closed = span.length === 0 ? this.#closed : endsLine(span, this.#form);
    if (span.length < SPAN_BYTES) this.#lines = newlines + (closed ? 0 : 1);
    else this.#newlines.push(newlines);
    this.#closed = closed;
  }
}

function endsLine(bytes: Buffer, form: NewlineForm): boolean {
  return countNewlines(bytes.subarray(-form.unit), form) === 1;
}
