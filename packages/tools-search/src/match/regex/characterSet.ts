import { OTHER_CASES } from "../needles/needle.js";

/** The set of characters that one position of an expression accepts. */
export interface CharacterSet {
  /** The ASCII members, by code. */
  readonly ascii: readonly boolean[];
  /** Non-ASCII members: none, all, or some. For "some", call `has`. */
  readonly beyond: "none" | "all" | "some";
  /** The non-ASCII characters that are exceptions to that. */
  readonly except: string;
  /** Whether any character, given by its code point, is in the set. */
  has(codePoint: number): boolean;
}

export const ASCII_SIZE = 128;

/** Class items that match ASCII only; `\s` also matches a few characters beyond. */
const ASCII_ITEMS = String.raw`(?:\\[^DWSspPucx]|\\x[0-7].|[^\\\u0080-\u{10ffff}])*`;
const ITEMS = ASCII_ITEMS.replace("Ss", "S");

/** A single-character pattern within ASCII: a character, \d, \w, or a class of such items. */
const ONLY_ASCII = new RegExp(
  String.raw`^(?:[^\\[\]().*+?|^$\u0080-\u{10ffff}]|\\[^bBDWSspPkucx1-9]|\\x[0-7].|\[(?!\^)${ASCII_ITEMS}\])$`,
  "u",
);
const ALMOST_ONLY_ASCII = new RegExp(String.raw`^(?:\\s|\[(?!\^)${ITEMS}\])$`, "u");
const ALL_BEYOND_ASCII = new RegExp(String.raw`^(?:\\[DWS]|\[\^${ITEMS}\])$`, "u");

/** The non-ASCII white space. */
const SPACES =
  "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

/** Whether a piece of an expression, as written by `parseRegex`, matches one character, which is always ASCII. */
export function isOneOfAscii(source: string): boolean {
  return ONLY_ASCII.test(source);
}

/** The set of a piece that matches one character. */
export function characterSet(source: string, ignoreCase: boolean): CharacterSet {
  const expression = new RegExp(`^${source}$`, ignoreCase ? "iu" : "u");
  const ascii = Array.from({ length: ASCII_SIZE }, (_, code) => expression.test(String.fromCharCode(code)));
  const beyond = beyondAscii(source);
  const spaces = /\\s/i.test(source) ? SPACES : "";
  const otherCases = Object.entries(ignoreCase ? OTHER_CASES : {})
    .filter(([letter]) => ascii[letter.charCodeAt(0)] === (beyond === "none"))
    .map(([, other]) => other);
  return {
    ascii,
    beyond,
    except: spaces + otherCases.join(""),
    has: (codePoint) => expression.test(String.fromCodePoint(codePoint)),
  };
}

function beyondAscii(source: string): CharacterSet["beyond"] {
  if (isOneOfAscii(source) || ALMOST_ONLY_ASCII.test(source)) return "none";
  return ALL_BEYOND_ASCII.test(source) ? "all" : "some";
}

export const WORD = characterSet("\\w", false);

/**
 * Partitions the 256 bytes into classes whose members are in the same sets. Each of the bytes in `apart` is a separate
 * class. Non-ASCII bytes with the same `beyondKind` share a class.
 */
export function byteKinds(
  sets: readonly CharacterSet[],
  apart: readonly number[],
  beyondKind: (byte: number) => string,
): { readonly kindOf: Uint8Array; readonly examples: readonly number[] } {
  const kinds = new Map<string, number>();
  const examples: number[] = [];
  const kindOf = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const alone = apart.includes(byte) ? byte : "";
    const key =
      byte >= ASCII_SIZE
        ? beyondKind(byte)
        : `${sets.map(({ ascii }) => (ascii[byte] ? 1 : 0)).join("")}${alone}`;
    const kind = kinds.get(key) ?? kinds.size;
    if (kind === kinds.size) {
      kinds.set(key, kind);
      examples.push(byte);
    }
    kindOf[byte] = kind;
  }
  return { kindOf, examples };
}
