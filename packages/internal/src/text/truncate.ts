import { fromUtf8, toUtf8, utf8Length } from "./bytes.js";

// A character has at most three continuation bytes. A longer row of them is not text, and is cut anywhere.
const MOST_CONTINUATIONS = 3;

/**
 * The largest number of bytes up to a limit that does not split a character.
 *
 * @example
 * ```ts
 * import { utf8Boundary } from "@agent/core/toolkit";
 *
 * console.log(utf8Boundary(new TextEncoder().encode("naïve"), 3)); // 2
 * ```
 */
export function utf8Boundary(bytes: Uint8Array, limit: number): number {
  if (limit >= bytes.length) return bytes.length;
  const end = Math.max(0, Math.trunc(limit) || 0);
  for (let start = end; start >= Math.max(0, end - MOST_CONTINUATIONS); start--) {
    if (!isContinuation(bytes, start)) return start;
  }
  return end;
}

function isContinuation(bytes: Uint8Array, index: number): boolean {
  return ((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000;
}

/**
 * The longest prefix of a text within a number of UTF-8 bytes, never cut inside a character.
 *
 * @example
 * ```ts
 * import { truncateUtf8 } from "@agent/core/toolkit";
 *
 * console.log(truncateUtf8("naïve", 3)); // na
 * ```
 */
export function truncateUtf8(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most 3 bytes of UTF-8: most texts need no encoding at all.
  if (text.length * 3 <= maxBytes || utf8Length(text) <= maxBytes) return text;
  const bytes = toUtf8(text.slice(0, maxBytes));
  return fromUtf8(bytes.subarray(0, utf8Boundary(bytes, maxBytes)));
}

/**
 * The longest suffix of a text within a number of UTF-8 bytes, never cut inside a character.
 *
 * @example
 * ```ts
 * import { truncateUtf8Start } from "@agent/core/toolkit";
 *
 * console.log(truncateUtf8Start("naïve", 3)); // ve
 * ```
 */
export function truncateUtf8Start(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || utf8Length(text) <= maxBytes) return text;
  const limit = Math.trunc(maxBytes);
  if (!(limit > 0)) return "";
  const bytes = toUtf8(text.slice(-limit));
  let start = Math.max(0, bytes.length - limit);
  while (isContinuation(bytes, start)) start++;
  return fromUtf8(bytes.subarray(start));
}

/**
 * The start of a text, ending with "…" if the text has more than `length` characters. Never cut inside a character.
 *
 * @example
 * ```ts
 * import { shorten } from "@agent/core/toolkit";
 *
 * console.log(shorten("a long description", 7)); // a long…
 * ```
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The first sentence of a description for a list: on one line, and at most `length` characters. */
export function firstSentence(text: string, length: number): string {
  const [sentence] = /^[\s\S]*?[.!?](?=\s|$)/.exec(text) ?? [text];
  return shorten(sentence.replace(/\s+/g, " ").trim(), length);
}

/**
 * Shortens `text` to about `maxBytes`, keeping its start and end with a notice between them that states the full size.
 * A text within the limit is returned unchanged.
 */
export function truncateMiddle(text: string, maxBytes: number, hint = "Ask for less at a time."): string {
  const size = utf8Size(text, maxBytes);
  if (size <= maxBytes) return text;
  const head = truncateUtf8(text, Math.ceil(maxBytes * 0.75));
  const tail = truncateUtf8Start(text, Math.floor(maxBytes * 0.25));
  const cut = size - utf8Length(head) - utf8Length(tail);
  return `${head}\n[… truncated: ${cut} of ${size} bytes left out here. ${hint}]\n${tail}`;
}

function utf8Size(text: string, enough: number): number {
  return text.length * 3 <= enough ? text.length : utf8Length(text);
}
