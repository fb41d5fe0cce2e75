// What may stand before a request without changing it.
const POLITENESS =
  /^(?:(?:please|now|ok|okay|hey|so|first|next|finally|also|just|agent|and|then)\b[,:]?\s+|(?:can|could|would|will) you(?: please)?\s+|(?:i want you to|i'd like you to|i would like you to|i need you to|go ahead and|let's|let us)\s+)+/i;
const QUOTES = new Set(['"', "`"]);

/** The request without its polite beginning, on one line's ends. */
export function withoutPoliteness(text: string): string {
  return text.trim().replace(POLITENESS, "").trim();
}

/** The steps of a request: parts joined by "then", never inside quotes. */
export function splitSteps(text: string): string[] {
  return splitOutsideQuotes(
    text,
    /^(?:\s*[,;.]?\s*(?:and\s+)?(?:then|after that|afterwards)[,:]?\s+|\s*\n\s*)/i,
  ).filter((part) => part.trim() !== "");
}

/** Each way to cut a text in two at an "and" outside of quotes. */
export function splitAtAnd(text: string): [left: string, right: string][] {
  const parts = splitOutsideQuotes(text, /^(?:\s*,\s*(?:and\s+)?|\s+and\s+)/i);
  const joints: [string, string][] = [];
  let left = "";
  for (const part of parts.slice(0, -1)) {
    left = left === "" ? part : text.slice(0, text.indexOf(part, left.length) + part.length);
    const right = text.slice(left.length).replace(/^(?:\s*,\s*(?:and\s+)?|\s+and\s+)/i, "");
    joints.push([left, right]);
  }
  return joints;
}

function splitOutsideQuotes(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let current = "";
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
    } else if (opensQuote(text, index)) {
      quote = character;
    } else {
      // A separator begins at a border between words only.
      const found = /[\s,;.\n]/.test(character) ? text.slice(index).match(separator) : null;
      if (found) {
        parts.push(current);
        current = "";
        index += found[0].length - 1;
        continue;
      }
    }
    current += character;
  }
  return [...parts, current];
}

/** An apostrophe inside a word is no quote; one that is never closed is none either. */
function opensQuote(text: string, index: number): boolean {
  const character = text[index] ?? "";
  if (QUOTES.has(character)) return text.indexOf(character, index + 1) !== -1;
  if (character !== "'") return false;
  return !/\w/.test(text[index - 1] ?? "") && text.indexOf("'", index + 1) !== -1;
}
