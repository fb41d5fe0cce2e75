/** Which characters one place of an expression accepts. */
export interface CharacterSet {
  /** By code, for ASCII. */
  readonly ascii: readonly boolean[];
  /** Whether it may accept characters beyond ASCII. Which ones is left to the expression. */
  readonly beyond: boolean;
}

export const ASCII_SIZE = 128;

/** What stands for one character, all of ASCII: a character, \d, \w, or a class without anything that reaches beyond. */
const ONLY_ASCII =
  /^(?:[^\\[\]().*+?|^$\u0080-\u{10ffff}]|\\[^bBDWSspPkucx1-9]|\\x[0-7].|\[(?!\^)(?:\\[^DWSspPucx]|\\x[0-7].|[^\\\u0080-\u{10ffff}])*\])$/u;

/** Whether a piece of an expression, as `parseRegex` writes it, stands for one character, which is always ASCII. */
export function isOneOfAscii(source: string): boolean {
  return ONLY_ASCII.test(source);
}

/** The set of a piece that stands for one character. */
export function characterSet(source: string, ignoreCase: boolean): CharacterSet {
  const expression = new RegExp(`^${source}$`, ignoreCase ? "iu" : "u");
  const ascii = Array.from({ length: ASCII_SIZE }, (_, code) => expression.test(String.fromCharCode(code)));
  // The Kelvin sign and the long s are letters of ASCII in another case.
  const otherCases = ignoreCase && [..."ks"].some((letter) => ascii[letter.charCodeAt(0)]);
  return { ascii, beyond: otherCases || !isOneOfAscii(source) };
}

export const WORD = characterSet("\\w", false);

/**
 * Sorts the 256 bytes into kinds, so that those of a kind are in the same ones of the sets. All bytes beyond ASCII
 * are one kind, and so is each of the bytes that are `apart`.
 */
export function byteKinds(
  sets: readonly CharacterSet[],
  apart: readonly number[],
): { readonly kindOf: Uint8Array; readonly examples: readonly number[] } {
  const kinds = new Map<string, number>();
  const examples: number[] = [];
  const kindOf = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const alone = apart.includes(byte) ? byte : "";
    const key =
      byte >= ASCII_SIZE ? "beyond" : `${sets.map(({ ascii }) => (ascii[byte] ? 1 : 0)).join("")}${alone}`;
    const kind = kinds.get(key) ?? kinds.size;
    if (kind === kinds.size) {
      kinds.set(key, kind);
      examples.push(byte);
    }
    kindOf[byte] = kind;
  }
  return { kindOf, examples };
}
