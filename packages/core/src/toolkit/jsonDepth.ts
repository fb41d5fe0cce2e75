const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a JSON text is nested more than `most` levels deep. Scans the text, because a value nested a million levels
 * deep takes gigabytes or overflows the stack of any code that walks it.
 */
export function isNestedDeeper(text: string, most: number): boolean {
  // Each level takes two characters.
  if (text.length < most * 2) return false;
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) inText = true;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      if (++depth > most) return true;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
  }
  return false;
}
