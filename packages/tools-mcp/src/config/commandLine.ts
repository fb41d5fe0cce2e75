/**
 * Splits a command line into words, with a shell's quotes and backslashes, and without any other shell syntax. Throws
 * for an unclosed quote; the error does not quote the text, since a pasted line may contain a secret.
 */
export function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quoted: string | undefined;
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (quoted !== undefined) {
      if (character === quoted) quoted = undefined;
      else if (character === "\\" && quoted === '"' && /["\\$`]/.test(line.charAt(index + 1)))
        word += line.charAt(++index);
      else word += character;
    } else if (character === "'" || character === '"') {
      quoted = character;
      word ??= "";
    } else if (character === "\\" && index + 1 < line.length) {
      word = (word ?? "") + line.charAt(++index);
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quoted !== undefined) throw new Error(`A quote (${quoted}) is not closed.`);
  if (word !== undefined) words.push(word);
  return words;
}
