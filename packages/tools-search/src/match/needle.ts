/** The longest text a needle may have, in bytes; a longer query is found by its start and then verified. */
export const MAX_NEEDLE_BYTES = 512;

const CASE_BIT = 0x20;

/** A byte string to look for. A byte of the text matches if `text | fold == byte`. */
export interface Needle {
  readonly bytes: Uint8Array;
  /** 0x20 where the case of an ASCII letter does not matter, else 0. */
  readonly folds: Uint8Array;
  readonly folded: boolean;
  /** The places of its two rarest bytes, which are compared first. */
  readonly rare: readonly [number, number];
  /** Whether it can be found in text of plain ASCII. */
  readonly ascii: boolean;
}

/** Prepares a needle. `ignoreCase` covers the ASCII letters. */
export function createNeedle(text: string | Uint8Array, ignoreCase: boolean): Needle {
  const source = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const bytes = Uint8Array.from(source.subarray(0, MAX_NEEDLE_BYTES));
  const folds = bytes.map((byte) => (ignoreCase && isLetter(byte) ? CASE_BIT : 0));
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) | (folds[i] ?? 0);
  return {
    bytes,
    folds,
    folded: folds.some((fold) => fold !== 0),
    rare: rarest(bytes, folds),
    ascii: bytes.every((byte) => byte < 0x80),
  };
}

/** The only characters beyond ASCII that are a letter of ASCII in another case: the Kelvin sign and the long s. */
const OTHER_CASES: Readonly<Record<string, string>> = { k: "\u212a", s: "\u017f" };

/** Needles for lines that may hold one of the texts in another case, though not in ASCII. */
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
  // Two different bytes say more than the same one twice.
  const second = order.find((place) => bytes[place] !== bytes[first]) ?? order[1] ?? first;
  return [first, second];
}

/** The bytes of source code and prose from common to rare; whatever is not listed is rarer still. */
const COMMON =
  " etainrosldcu_pmf\n\thg,.(){};=-b*vy\"0/1'x:kw>2TSERCAINPDLMO3F&4B<#58[]6|UG9zq+7VHj!WK\\XY%$@?Q~`J^Z";
const RANK = new Uint8Array(256);
for (let i = 0; i < COMMON.length; i++) RANK[COMMON.charCodeAt(i)] = COMMON.length - i;

function frequency(byte: number, fold: number): number {
  const rank = RANK[byte] ?? 0;
  return fold === 0 ? rank : Math.max(rank, RANK[byte & ~fold] ?? 0);
}

/** How rare the rarest byte of a text is, for choosing among candidates: lower is rarer. */
export function commonness(text: string): number {
  let best = 255;
  for (const byte of Buffer.from(text, "utf8")) best = Math.min(best, frequency(byte, 0));
  return best;
}
