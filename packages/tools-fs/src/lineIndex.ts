import { type CountingRoom, inCountingRoom, ROOM_BYTES } from "./countingRoom.js";
import { afterNewline, countNewlines, type NewlineForm } from "./newlines.js";
import { readFully, readFullyAsync } from "./readBytes.js";

const SPAN_BYTES = 1024 * 1024;
// Two halves: the system fills one while the other is counted.
const READ_BYTES = ROOM_BYTES / 2;

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

  /** Scans on, one caller at a time, until `enough` or the end. */
  #extend(
    fd: number,
    enough: (newlines: number, bytes: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const work = this.#scan.then(async () => {
      if (this.#lines !== undefined || enough(this.#newlines.at(-1) ?? 0, this.#scanned)) return;
      await inCountingRoom((room) => this.#scanOn(room, fd, enough, signal));
    });
    this.#scan = work.catch(() => undefined);
    return work;
  }

  async #scanOn(
    room: CountingRoom,
    fd: number,
    enough: (newlines: number, bytes: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const read = (half: number, position: number): Promise<number> => {
      return readFullyAsync(fd, room.bytes.subarray(half, half + READ_BYTES), position);
    };
    let half = 0;
    let reading: Promise<number> | undefined = read(half, this.#scanned);
    while (reading !== undefined) {
      const length: number = await reading;
      // Nothing is being read now: the room and the file may be given back.
      signal?.throwIfAborted();
      const other = READ_BYTES - half;
      const next = length < READ_BYTES ? undefined : read(other, this.#scanned + READ_BYTES);
      // Awaited in the next round; a failure must not count as unhandled until then.
      next?.catch(() => undefined);
      this.#add(room, half, length);
      reading = next;
      half = other;
      if (next !== undefined && enough(this.#newlines.at(-1) ?? 0, this.#scanned)) {
        await next;
        return;
      }
    }
  }

  /** How far the file has been scanned, in bytes. */
  get #scanned(): number {
    return (this.#newlines.length - 1) * SPAN_BYTES;
  }

  /** Takes in what was read into the room at `start`; less than was asked for is the end of the file. */
  #add(room: CountingRoom, start: number, length: number): void {
    let newlines = this.#newlines.at(-1) ?? 0;
    const end = start + length;
    let at = start;
    for (; at + SPAN_BYTES <= end; at += SPAN_BYTES) {
      newlines += this.#count(room, at, at + SPAN_BYTES);
      this.#newlines.push(newlines);
    }
    if (length < READ_BYTES) {
      newlines += this.#count(room, at, end);
      this.#lines = newlines + (this.#endsLine(room, start, end) ? 0 : 1);
    } else {
      this.#closed = this.#endsLine(room, start, end);
    }
  }

  #count(room: CountingRoom, start: number, end: number): number {
    if (this.#form.unit === 1) return room.count(start, end);
    return countNewlines(room.bytes.subarray(start, end), this.#form);
  }

  /** Whether what was read ends a line; if nothing was, whether what came before did. */
  #endsLine(room: CountingRoom, start: number, end: number): boolean {
    if (start === end) return this.#closed;
    return this.#count(room, Math.max(start, end - this.#form.unit), end) === 1;
  }
}
