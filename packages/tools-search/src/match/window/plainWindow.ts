import { firstOfMany } from "../needles/firstOfMany.js";
import type { Needle } from "../needles/needle.js";
import type { NeedleSet } from "../needles/needleSet.js";
import type { Dfa } from "../regex/dfa.js";
import type { ByteWindow } from "./byteWindow.js";

const NEWLINE = 0x0a;
/** The interval in bytes, a power of two, at which a search through a large window reports progress. */
const HEARTBEAT_BYTES = 4 * 1024 * 1024;

/** Works everywhere, with memory of any size. */
export class PlainWindow implements ByteWindow {
  readonly #heartbeat: () => void;

  constructor(
    readonly buffer: Buffer,
    /** Called periodically during a long search. */
    heartbeat: () => void = () => undefined,
  ) {
    this.#heartbeat = heartbeat;
  }

  find(needle: Needle, from: number, to: number): number {
    if (needle.kind === "run") return this.#findRun(needle, from, to);
    if (needle.kind !== "text") return this.#findByByte(needle, from, to);
    const at = this.buffer.indexOf(needle.bytes, from);
    return at === -1 || at + needle.length > to ? -1 : at;
  }

  finder({ needles }: NeedleSet, to: number): (from: number) => number {
    return firstOfMany(needles, (needle, from) => this.find(needle, from, to));
  }

  #findRun(needle: Needle, from: number, to: number): number {
    let length = 0;
    for (let at = from; at < to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.#heartbeat();
      length = isInClass(needle, 0, this.buffer[at] ?? 0) ? length + 1 : 0;
      if (length === needle.length) return at + 1 - length;
    }
    return -1;
  }

  #findByByte(needle: Needle, from: number, to: number): number {
    const fits = needle.kind === "classes" ? isInClass : isSameLetter;
    for (let at = from; at + needle.length <= to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.#heartbeat();
      let i = 0;
      while (i < needle.length && fits(needle, i, this.buffer[at + i] ?? 0)) i++;
      if (i === needle.length) return at;
    }
    return -1;
  }

  decide({ columnOf, table, lineStart, rowBytes }: Dfa, from: number, to: number): number {
    const { buffer } = this;
    let row = lineStart;
    for (let at = from; at < to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.#heartbeat();
      row = table[(row + (columnOf[buffer[at] ?? 0] ?? 0)) >> 1] ?? 0;
      if (row >= lineStart) continue;
      if (row > 0) return at * 2 + (row > rowBytes ? 1 : 0);
      at = this.nextNewline(at, to);
      row = lineStart;
    }
    if (row === lineStart) return -1;
    // The last line has no line ending, but still ends here.
    return table[(row + (columnOf[NEWLINE] ?? 0)) >> 1] === rowBytes ? to * 2 : -1;
  }

  nextNewline(from: number, to: number): number {
    const at = this.buffer.indexOf(NEWLINE, from);
    return at === -1 || at > to ? to : at;
  }

  lastNewline(from: number, to: number): number {
    // A negative offset would count from the end of the buffer.
    const at = to <= from ? -1 : this.buffer.lastIndexOf(NEWLINE, to - 1);
    return at < from ? -1 : at;
  }

  countNewlines(from: number, to: number): number {
    let total = 0;
    for (let at = this.nextNewline(from, to); at < to; at = this.nextNewline(at + 1, to)) total++;
    return total;
  }
}

function isSameLetter({ bytes, folds }: Needle, place: number, byte: number): boolean {
  return (byte | (folds[place] ?? 0)) === bytes[place];
}

function isInClass({ bytes, folds }: Needle, place: number, byte: number): boolean {
  return ((bytes[place * 16 + (byte & 15)] ?? 0) & (folds[byte >> 4] ?? 0)) !== 0;
}
