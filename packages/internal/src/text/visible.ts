// Everything that moves the cursor, hides text or reorders it: C0 and C1 controls, DEL, zero-width and
// bidirectional marks, line and paragraph separators, letters that show nothing, and the invisible "tag" block
// used to smuggle text.
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\u{e0000}-\u{e0fff}]/gu;
const LINE_BREAKERS = /[\t\n]/g;

// The tag block duplicates ASCII invisibly. Its only legitimate use is after a black flag: 🏴 + tags = a region's flag.
const HIDDEN_TAGS = /(\u{1f3f4}[\u{e0020}-\u{e007f}]+)|[\u{e0000}-\u{e007f}]/gu;

/** Whether a text contains invisible tag characters, which can spell out hidden words. */
export function hasHiddenTags(text: string): boolean {
  return revealHiddenTags(text) !== text;
}

/**
 * Makes invisible tag characters visible, so that a file cannot hide instructions for a model; the rest is unchanged.
 */
export function revealHiddenTags(text: string): string {
  // All characters of the block start with one surrogate: texts without it, nearly all, are not looked at twice.
  if (!text.includes("\udb40")) return text;
  return text.replace(HIDDEN_TAGS, (character, flag?: string) => flag ?? escapeCharacter(character));
}

/** Makes control and invisible characters visible (`\x1b`, `\u202e`); keeps tabs and newlines. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, escapeCharacter);
}

/**
 * Like `escapeInvisible`, but always on one line, for names and titles in listings. Plain names are unchanged.
 *
 * @example
 * ```ts
 * import { escapeToLine } from "@agent/core/toolkit";
 *
 * console.log(escapeToLine("two\nlines")); // two\nlines
 * ```
 */
export function escapeToLine(text: string): string {
  return escapeInvisible(text).replace(LINE_BREAKERS, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}
