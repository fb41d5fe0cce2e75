const WORD = /^[\p{L}\p{N}_$]/u;

/** Whether a character is part of an identifier, in most languages. */
function isWord(character: string): boolean {
  return WORD.test(character);
}

/** The character at an offset, which may be a surrogate pair. Empty outside of the text. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** The character that ends at an offset. */
function characterBefore(text: string, at: number): string {
  const pair = at > 1 ? characterAt(text, at - 2) : "";
  if (pair.length === 2) return pair;
  return at > 0 ? characterAt(text, at - 1) : "";
}

/** Extends a range of a text to whole identifiers. */
export function wholeWords(text: string, start: number, end: number): readonly [start: number, end: number] {
  let [from, to] = [start, end];
  for (let one = characterBefore(text, from); isWord(one); one = characterBefore(text, from))
    from -= one.length;
  for (let one = characterAt(text, to); isWord(one); one = characterAt(text, to)) to += one.length;
  return [from, to];
}

/** The position of a symbol as a whole word; -1 if it does not occur. */
export function indexOfWord(text: string, symbol: string): number {
  for (let at = text.indexOf(symbol); at !== -1; at = text.indexOf(symbol, at + 1)) {
    const end = at + symbol.length;
    const begins = !isWord(characterAt(symbol, 0)) || !isWord(characterBefore(text, at));
    const ends = !isWord(characterBefore(symbol, symbol.length)) || !isWord(characterAt(text, end));
    if (begins && ends) return at;
  }
  return -1;
}
