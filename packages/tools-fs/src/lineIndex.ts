import { afterNewline, countNewlines, type NewlineForm } from "./newlines.js";
import { readFully, readFullyAsync } from "./readBytes.js";

const SPAN_BYTES = 1024 * 1024;
// Several spans at a time: a trip to the system and back costs more than counting one.
const READ_BYTES = 4 * SPAN_BYTES;
const MAX_INDEXES = 16;

/**
 * A sparse index of one file: how many newlines come before every 1 MiB. It grows as far as lines are asked
 * for, so that the first far window costs one pass over the bytes before it and the next one almost nothing.
 */
export class LineIndex {
  readonly #form: NewlineForm;
  /** Newlines before byte `position * SPAN_BYTES`, for every position scanned so far. */
  readonly #newlines: number[] = [0];
  /** The number of lines, once the end has been reached. */
  #lines: number | undefined;
  /** Whether what was scanned last ended with a newline; nothing at all leaves no line open either. */
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

  /** The number of lines of the file, or `undefined` if that would mean reading more than `maxBytes` on. */
  async total(fd: number, size: number, maxBytes: number, signal?: AbortSignal): Promise<number | undefined> {
    const scanned = (this.#newlines.length - 1) * SPAN_BYTES;
    if (this.#lines === undefined && size - scanned > maxBytes) return undefined;
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

  /** Scans on, one caller at a time, until `enough` or the end. */
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
    let span = this.#newlines.length - 1;
    let newlines = this.#newlines[span] ?? 0;
    if (this.#lines !== undefined || enough(newlines, span * SPAN_BYTES)) return;
    // Two buffers: the system fills one while the other is counted.
    let [current, spare] = [Buffer.allocUnsafe(READ_BYTES), Buffer.allocUnsafe(READ_BYTES)];
    let reading = readFullyAsync(fd, current, span * SPAN_BYTES);
    for (;;) {
      const length = await reading;
      signal?.throwIfAborted();
      if (length === READ_BYTES) {
        reading = readFullyAsync(fd, spare, span * SPAN_BYTES + READ_BYTES);
        // Settled below or on the next turn; a failure must not count as unhandled in between.
        reading.catch(() => undefined);
      }
      let at = 0;
      for (; at + SPAN_BYTES <= length; at += SPAN_BYTES) {
        newlines += this.#count(current.subarray(at, at + SPAN_BYTES));
        this.#newlines.push(newlines);
        span++;
      }
      if (length < READ_BYTES) {
        newlines += this.#count(current.subarray(at, length));
        this.#lines = newlines + (this.#closed ? 0 : 1);
        return;
      }
      if (enough(newlines, span * SPAN_BYTES)) {
        await reading;
        return;
      }
      [current, spare] = [spare, current];
    }
  }

  #count(bytes: Buffer): number {
    this.#closed = this.#endsLine(bytes);
    return countNewlines(bytes, this.#form);
  }

  /** Whether `bytes` ends a line; for no bytes, whether what came before did. */
  #endsLine(bytes: Buffer): boolean {
    if (bytes.length === 0) return this.#closed;
    return countNewlines(bytes.subarray(Math.max(0, bytes.length - this.#form.unit)), this.#form) === 1;
  }
}

/** The indexes of the files read last, each kept as long as its file does not change. */
export class LineIndexes {
  readonly #indexes = new Map<string, { readonly stamp: string; readonly index: LineIndex }>();

  get(path: string, stamp: string, form: NewlineForm): LineIndex {
    const key = `${form.unit}:${form.wide}:${path}`;
    const known = this.#indexes.get(key);
    const entry = known?.stamp === stamp ? known : { stamp, index: new LineIndex(form) };
    this.#indexes.delete(key);
    this.#indexes.set(key, entry);
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= MAX_INDEXES) break;
      this.#indexes.delete(oldest);
    }
    return entry.index;
  }
}
