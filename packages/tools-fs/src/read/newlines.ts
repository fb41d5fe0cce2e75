/** The width of a code unit and the form of a newline, for counting lines without decoding. */
export interface NewlineForm {
  /** Bytes per code unit. */
  readonly unit: 1 | 2;
  /** The newline as a 16-bit number in this machine's byte order; only for `unit` 2. */
  readonly wide: number;
}

const BLOCK_BYTES = 4096;

export const BYTE_NEWLINE: NewlineForm = { unit: 1, wide: 0 };
export const UTF16LE_NEWLINE: NewlineForm = { unit: 2, wide: 0x000a };
export const UTF16BE_NEWLINE: NewlineForm = { unit: 2, wide: 0x0a00 };

/** The number of newlines in `bytes`. */
export function countNewlines(bytes: Uint8Array, form: NewlineForm): number {
  return form.unit === 1 ? countBytes(bytes) : countWide(bytes, form.wide);
}

/** The position just after the `count`-th newline in `bytes` (from 1), or -1 if there are fewer. */
export function afterNewline(bytes: Buffer, count: number, form: NewlineForm): number {
  let position = 0;
  let found = 0;
  // Count whole blocks first: with `indexOf` alone, a million empty lines would take a million searches.
  for (; position + BLOCK_BYTES <= bytes.length; position += BLOCK_BYTES) {
    const here = countNewlines(bytes.subarray(position, position + BLOCK_BYTES), form);
    if (found + here >= count) break;
    found += here;
  }
  for (; found < count; found++) {
    const next = nextNewline(bytes, position, form);
    if (next === -1) return -1;
    position = next;
  }
  return position;
}

/** The position just after the last newline that ends at or before `end`, or 0 if there is none. */
export function lastLineEnd(bytes: Buffer, end: number, form: NewlineForm): number {
  if (form.unit === 1) return end === 0 ? 0 : bytes.lastIndexOf(10, end - 1) + 1;
  for (let at = (end & ~1) - 2; at >= 0; at -= 2) {
    if (bytes.readUInt16LE(at) === form.wide) return at + 2;
  }
  return 0;
}

function nextNewline(bytes: Buffer, from: number, form: NewlineForm): number {
  if (form.unit === 1) {
    const at = bytes.indexOf(10, from);
    return at === -1 ? -1 : at + 1;
  }
  for (let at = from; at + 1 < bytes.length; at += 2) {
    if (bytes.readUInt16LE(at) === form.wide) return at + 2;
  }
  return -1;
}

function countWide(bytes: Uint8Array, newline: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    if (view.getUint16(at, true) === newline) count++;
  }
  return count;
}

// Counts four bytes at a time. Its speed does not depend on the length of lines; `indexOf` is slow for short lines.
function countBytes(bytes: Uint8Array): number {
  const start = Math.min(bytes.length, -bytes.byteOffset & 3);
  const length = (bytes.length - start) >> 2;
  const end = start + length * 4;
  const words =
    length === 0 ? 0 : countInWords(new Int32Array(bytes.buffer, bytes.byteOffset + start, length));
  return countOneByOne(bytes, 0, start) + words + countOneByOne(bytes, end, bytes.length);
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (bytes[at] === 10) count++;
  return count;
}

function countInWords(words: Int32Array): number {
  let count = 0;
  let index = 0;
  while (index < words.length) {
    // Each of the four byte-wide sums in `sums` grows by at most 1 per word: 255 words, then add them up.
    const end = Math.min(words.length, index + 255);
    let sums = 0;
    for (; index < end; index++) {
      const word = (words[index] ?? 0) ^ 0x0a0a0a0a;
      // Sets the top bit of every byte that is zero, and no other bit.
      const hits = ~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f);
      sums = (sums + (hits >>> 7)) | 0;
    }
    count += (sums & 255) + ((sums >>> 8) & 255) + ((sums >>> 16) & 255) + (sums >>> 24);
  }
  return count;
}
