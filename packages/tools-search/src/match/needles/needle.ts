/** The maximum length of a needle in bytes; a longer query is found by its prefix and then verified. */
export const MAX_NEEDLE_BYTES = 512;

/** The maximum length of a run of character classes that is searched for. */
export const MAX_RUN = 32;

const CASE_BIT = 0x20;

/** A search pattern: a string of bytes, case-sensitive or not, or a sequence of character classes. */
export interface Needle {
  readonly kind: "text" | "folded" | "classes" | "run";
  /** The number of bytes of a match. */
  readonly length: number;
  /** The bytes; for classes, a 16-entry nibble table each: index = low nibble, bits = allowed high nibbles. */
  readonly bytes: Uint8Array;
  /** For text: a byte of it matches if `text | fold == byte`. For classes: the bit of each high nibble. */
  readonly folds: Uint8Array;
  /** The positions of its two rarest bytes, which are compared first. */
  readonly rare: readonly [number, number];
  /** Whether it can occur in plain ASCII text. */
  readonly ascii: boolean;
}

/** Prepares a needle. `ignoreCase` covers the ASCII letters. */
export function createNeedle(text: string | Uint8Array, ignoreCase: boolean): Needle {
  const source = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const bytes = Uint8Array.from(source.subarray(0, MAX_NEEDLE_BYTES));
  const folds = bytes.map((byte) => (ignoreCase && isLetter(byte) ? CASE_BIT : 0));
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) | (folds[i] ?? 0);
  return {
    kind: folds.some((fold) => fold !== 0) ? "folded" : "text",
    length: bytes.length,
    bytes,
    folds,
    rare: rarest(bytes, folds),
    ascii: bytes.every((byte) => byte < 0x80),
  };
}

const UPPER_HALVES = Uint8Array.from({ length: 16 }, (_, half) => (half < 8 ? 1 << half : 0));

/** A needle for a sequence of characters, each given by all its alternatives; ASCII only. */
export function createClassNeedle(run: readonly string[]): Needle {
  const bytes = new Uint8Array(run.length * 16);
  for (const [place, members] of run.entries()) {
    for (const byte of Buffer.from(members, "latin1")) {
      const at = place * 16 + (byte & 15);
      bytes[at] = (bytes[at] ?? 0) | (1 << (byte >> 4));
    }
  }
  return {
    kind: run.length <= MAX_RUN && run.every((members) => members === run[0]) ? "run" : "classes",
    length: run.length,
    bytes,
    folds: UPPER_HALVES,
    rare: rarestPlaces(run),
    ascii: true,
  };
}

/** The positions of the rarest class and the rarest other class; if all are the same, the positions farthest apart. */
function rarestPlaces(run: readonly string[]): [number, number] {
  const frequency = run.map(frequencyOfAny);
  const order = Array.from(run, (_, place) => place).sort(
    (a, b) => (frequency[a] ?? 0) - (frequency[b] ?? 0) || a - b,
  );
  const first = order[0] ?? 0;
  const others = order.filter((place) => run[place] !== run[first]);
  const kind = run[others[0] ?? order.at(-1) ?? 0];
  const same = order.filter((place) => run[place] === kind);
  const second = same.reduce(
    (best, place) => (Math.abs(place - first) > Math.abs(best - first) ? place : best),
    same[0] ?? 0,
  );
  return [first, second];
}

/** The approximate frequency of these characters, as a share of all. */
export function frequencyOfAny(members: string): number {
  let sum = 0;
  for (const byte of Buffer.from(members, "latin1")) sum += shareOfByte(byte);
  return sum;
}

/** The same for one byte. */
export function shareOfByte(byte: number): number {
  // Common bytes are listed by rank, and the share falls with the rank.
  return 0.2 / (2 + COMMON.length - (RANK[byte] ?? 0));
}

/** The only non-ASCII characters that are ASCII letters in another case: the Kelvin sign and the long s. */
export const OTHER_CASES: Readonly<Record<string, string>> = { k: "\u212a", s: "\u017f" };

/** Needles for lines that may contain one of the texts in another case, with non-ASCII letters. */
export function otherCaseNeedles(texts: readonly string[]): Needle[] {
  const letters = Object.keys(OTHER_CASES).filter((letter) =>
    texts.some((text) => text.toLowerCase().includes(letter)),
  );
  return letters.map((letter) => createNeedle(OTHER_CASES[letter] ?? "", false));
}

function isLetter(byte: number): boolean {
  const lower = byte | CASE_BIT;
  return lower >= 0x61 && lower <= 0x7a;
}

function rarest(bytes: Uint8Array, folds: Uint8Array): [number, number] {
  const order = Array.from(bytes, (_, place) => place).sort(
    (a, b) => frequency(bytes[a] ?? 0, folds[a] ?? 0) - frequency(bytes[b] ?? 0, folds[b] ?? 0) || a - b,
  );
  const first = order[0] ?? 0;
  // Two different bytes are rarer together than the same byte twice.
  const second = order.find((place) => bytes[place] !== bytes[first]) ?? order[1] ?? first;
  return [first, second];
}

/** The bytes of source code and prose from common to rare; unlisted bytes are rarer still. */
const COMMON =
  " etainrosldcu_pmf\n\thg,.(){};=-b*vy\"0/1'x:kw>2TSERCAINPDLMO3F&4B<#58[]6|UG9zq+7VHj!WK\\XY%$@?Q~`J^Z";
const RANK = new Uint8Array(256);
for (let i = 0; i < COMMON.length; i++) RANK[COMMON.charCodeAt(i)] = COMMON.length - i;

function frequency(byte: number, fold: number): number {
  const rank = RANK[byte] ?? 0;
  return fold === 0 ? rank : Math.max(rank, RANK[byte & ~fold] ?? 0);
}

/** The frequency of the rarest byte of a text, for choosing among candidates: lower is rarer. */
export function commonness(text: string): number {
  let best = 255;
  for (const byte of Buffer.from(text, "utf8")) best = Math.min(best, frequency(byte, 0));
  return best;
}
