import type { CharacterTest } from "./tree.js";

const ASCII = 128;
// Cache size: texts repeat their characters. Beyond it the engine tests each character.
const MAX_REMEMBERED = 4096;

/** A test for an atom of one character: `.`, a class or an escape. The engine says what it means, so nothing differs. */
export function atomTest(atom: string, unicode: boolean): CharacterTest {
  const expression = new RegExp(`^(?:${atom})$`, unicode ? "u" : "");
  const ask = (code: number): boolean => expression.test(String.fromCodePoint(code));
  // 0 is unknown, 1 yes, 2 no.
  const ascii = new Uint8Array(ASCII);
  const others = new Map<number, boolean>();
  return (code) => {
    if (code < ASCII) {
      ascii[code] ||= ask(code) ? 1 : 2;
      return ascii[code] === 1;
    }
    let fits = others.get(code);
    if (fits === undefined) {
      fits = ask(code);
      if (others.size < MAX_REMEMBERED) others.set(code, fits);
    }
    return fits;
  };
}

/** Whether a character belongs to a word, as `\b` understands it; `undefined` is the end of the text. */
export function isWordCode(code: number | undefined): boolean {
  if (code === undefined) return false;
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x5f ||
    (code >= 0x61 && code <= 0x7a)
  );
}
