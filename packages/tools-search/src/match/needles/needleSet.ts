import { type Needle, shareOfByte } from "./needle.js";

/** One for each bit of a byte. */
const BUCKETS = 8;
/** The maximum number of bytes of a needle that are compared first. */
const MAX_PLACES = 3;
/** If candidates are rarer than this, verifying them is faster than comparing a third byte everywhere. */
const RARE = 1 / 1000;
/** The bytes to compare first are chosen from this many. */
const MAX_OFFSET = 16;

/**
 * The layout of the table that `findMany2.wat` and `findMany3.wat` read:
 * - two 16-entry nibble tables for each compared byte, by its low and by its high nibble; bits = buckets with such a
 *   needle;
 * - space for the buckets that match at 32 positions of the text;
 * - the offset of the needles of each bucket (16 bits each);
 * - the needles: length (16 bits), bytes, folds; a length of 0 ends the bucket.
 */
const HALVES_AT = 0;
const FOUND_AT = HALVES_AT + MAX_PLACES * 32;
const STARTS_AT = FOUND_AT + 32;
const NEEDLES_AT = STARTS_AT + BUCKETS * 2;
/** The table must fit into the memory that is reserved for it. */
export const MAX_SET_BYTES = 65_536;

/** Several needles prepared for a combined search. */
export interface SetTable {
  readonly bytes: Uint8Array;
  /** The two or three bytes of each needle that are compared first. */
  readonly offsets: readonly number[];
  /** The length of the shortest needle. */
  readonly shortest: number;
}

/** A matching line contains one of these needles. */
export class NeedleSet {
  #table: { readonly value: SetTable | undefined } | undefined;

  constructor(readonly needles: readonly Needle[]) {}

  get size(): number {
    return this.needles.length;
  }

  /** Built on first use. `undefined`: it would be too large. */
  get table(): SetTable | undefined {
    this.#table ??= { value: createTable(this.needles) };
    return this.#table.value;
  }
}

function createTable(needles: readonly Needle[]): SetTable | undefined {
  const size = needles.reduce((sum, { length }) => sum + 2 + 2 * length, NEEDLES_AT + BUCKETS * 2);
  if (size > MAX_SET_BYTES) return undefined;
  const shortest = Math.min(...needles.map((needle) => needle.length));
  const offsets = rarestOffsets(needles, shortest);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = NEEDLES_AT;
  for (const [number, bucket] of inBuckets(needles, offsets).entries()) {
    for (const [place, { low, high }] of bucket.places.entries()) {
      for (let half = 0; half < 16; half++) {
        const lower = HALVES_AT + place * 32 + half;
        bytes[lower] = (bytes[lower] ?? 0) | (((low >> half) & 1) << number);
        bytes[lower + 16] = (bytes[lower + 16] ?? 0) | (((high >> half) & 1) << number);
      }
    }
    view.setUint16(STARTS_AT + number * 2, at, true);
    for (const needle of bucket.needles) {
      view.setUint16(at, needle.length, true);
      bytes.set(needle.bytes, at + 2);
      bytes.set(needle.folds, at + 2 + needle.length);
      at += 2 + 2 * needle.length;
    }
    at += 2;
  }
  return { bytes, offsets, shortest };
}

/** The same offsets for all needles, so that the first match found also begins first. */
function rarestOffsets(needles: readonly Needle[], shortest: number): readonly number[] {
  // Any byte may follow a short needle.
  const last = Math.min(Math.max(shortest, 2), MAX_OFFSET) - 1;
  const all = Array.from({ length: last + 1 }, (_, offset) => offset);
  const pairs = all.flatMap((first) => all.slice(first + 1).map((second) => [first, second]));
  const pair = rarestOf(needles, pairs);
  if (shareOfAll(needles, pair) < RARE || shortest <= 2) return pair;
  return rarestOf(
    needles,
    all.filter((offset) => !pair.includes(offset)).map((third) => [...pair, third]),
  );
}

function rarestOf(needles: readonly Needle[], choices: readonly (readonly number[])[]): readonly number[] {
  const shares = choices.map((offsets) => shareOfAll(needles, offsets));
  return choices[shares.indexOf(Math.min(...shares))] ?? [];
}

/** The estimated share of text positions that look like one of the needles. */
function shareOfAll(needles: readonly Needle[], offsets: readonly number[]): number {
  const shares = new Map<string, number>();
  for (const { bytes, folds } of needles) {
    const shown = offsets.map((offset) => bytes[offset] ?? 256);
    const share = offsets.reduce(
      (product, offset) => product * shareOfFolded(bytes[offset], folds[offset]),
      1,
    );
    shares.set(shown.join(), share);
  }
  return [...shares.values()].reduce((sum, share) => sum + share, 0);
}

function shareOfFolded(byte: number | undefined, fold = 0): number {
  if (byte === undefined) return 1;
  return shareOfByte(byte) + (fold === 0 ? 0 : shareOfByte(byte & ~fold));
}

/** The bytes that match at one position, as bit sets of their low and high nibbles. */
interface Halves {
  readonly low: number;
  readonly high: number;
}

const ANY_BYTE: Halves = { low: 0xffff, high: 0xffff };
const NO_BYTE: Halves = { low: 0, high: 0 };

function halvesOf({ bytes, folds }: Needle, offset: number): Halves {
  const byte = bytes[offset];
  if (byte === undefined) return ANY_BYTE;
  const other = byte & ~(folds[offset] ?? 0);
  return { low: 1 << (byte & 15), high: (1 << (byte >> 4)) | (1 << (other >> 4)) };
}

interface Bucket {
  readonly places: readonly Halves[];
  readonly needles: readonly Needle[];
}

/**
 * Puts each needle into the bucket where it adds the fewest false candidates: one with similar needles, or an empty
 * one.
 */
function inBuckets(needles: readonly Needle[], offsets: readonly number[]): Bucket[] {
  const buckets = Array.from(
    { length: BUCKETS },
    (): Bucket => ({ places: offsets.map(() => NO_BYTE), needles: [] }),
  );
  for (const needle of needles) {
    const own = offsets.map((offset) => halvesOf(needle, offset));
    const added = buckets.map(({ places }) => shareOf(merged(places, own)) - shareOf(places));
    const best = added.indexOf(Math.min(...added));
    const bucket = buckets[best];
    if (bucket === undefined) continue;
    buckets[best] = { places: merged(bucket.places, own), needles: [...bucket.needles, needle] };
  }
  return buckets;
}

function merged(places: readonly Halves[], others: readonly Halves[]): Halves[] {
  return places.map(({ low, high }, place) => {
    const other = others[place] ?? NO_BYTE;
    return { low: low | other.low, high: high | other.high };
  });
}

/** The estimated share of positions at which all bytes match. */
function shareOf(places: readonly Halves[]): number {
  return places.reduce((product, place) => product * shareOfHalves(place), 1);
}

function shareOfHalves({ low, high }: Halves): number {
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) {
    if ((low >> (byte & 15)) & (high >> (byte >> 4)) & 1) sum += shareOfByte(byte);
  }
  return sum;
}
