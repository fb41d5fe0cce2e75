import { escapeInvisible } from "./visible.js";

// Beyond what every text is cleaned of: everything that prints nothing or only blank, and code points without a
// character. A command is not prose: no one needs a variation selector in one.
const NOT_SEEN =
  /\p{Cf}|\p{Co}|\p{Cn}|\p{Cs}|\p{Zl}|\p{Zp}|\u034f|\u115f|\u1160|[\u180b-\u180f]|\u2800|\u3164|[\ufe00-\ufe0f]|\uffa0|(?! )\p{Zs}/gu;
// Characters drawn like a character of ASCII: full-width and mathematical letters, letters as signs and Roman numbers,
// a few rare Latin letters, dashes, quotes, slashes, dots, colons.
const LIKE_ASCII =
  /[\u0131\u0237\u0251\u0261\u0269\u01c0\u01c3\u2100-\u214f\u2160-\u217f\uff01-\uff5e\u{1d400}-\u{1d7ff}\u2010-\u2015\u2018-\u201f\u2024-\u2026\u2032\u2044\u2212\u2215-\u2217\u2236\u223c\u02d0\u02d7\u037e\u0589\u05c3\u066a\ua789\u29f5\u29f8\u3002]/gu;
// Letters of the scripts whose letters look most like Latin ones.
const LOOKALIKE = /[авеікмнорсстухјѕһԁԛԝԍғзѵАВЕІКМНОРСТУХЈЅԌԚԜҮαορνυικτχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲⅽⅾⅰⅼ]/u;
const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;
// Terminals that support these scripts draw the words of a line in another order than the shell reads them.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const WORD = /[\p{L}\p{N}_]+/gu;
const MOST_SHOWN = 8;

/** Escapes every character that is invisible or looks like a blank: `\u202e`, `\xa0`. Newlines and tabs are kept. */
export function spellOut(text: string): string {
  return escapeInvisible(text).replace(NOT_SEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${code.toString(16)}` : `\\u{${code.toString(16)}}`;
  });
}

/**
 * Lookalike characters, each as `"а" is U+0430`. Letters of another script count if they are in one word with Latin
 * ones, or if the whole text has no other letters of that script than lookalikes: real prose has.
 */
export function findConfusables(text: string): string[] {
  const found = new Set(text.match(LIKE_ASCII) ?? []);
  const foreign = text.match(OTHER_SCRIPT) ?? [];
  const onlyLookalikes = foreign.length > 0 && foreign.every((letter) => LOOKALIKE.test(letter));
  for (const word of foreign.length === 0 ? [] : (text.match(WORD) ?? [])) {
    if (!onlyLookalikes && !/[A-Za-z]/.test(word)) continue;
    for (const letter of word.match(OTHER_SCRIPT) ?? []) found.add(letter);
  }
  const shown = [...found].slice(0, MOST_SHOWN).map((letter) => `"${letter}" is ${codeOf(letter)}`);
  return found.size > MOST_SHOWN ? [...shown, `${found.size - MOST_SHOWN} more`] : shown;
}

/** What a reader of `text` could misread, as text; `label` names the text. */
export function misreadings(label: string, text: string): string[] {
  const found: string[] = [];
  const confusables = findConfusables(text);
  if (confusables.length > 0) found.push(`${label} has lookalikes: ${confusables.join(", ")}`);
  if (RIGHT_TO_LEFT.test(text)) {
    found.push(`${label} has letters that run from right to left: words may stand in another order here`);
  }
  return found;
}

function codeOf(letter: string): string {
  const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${code}`;
}
