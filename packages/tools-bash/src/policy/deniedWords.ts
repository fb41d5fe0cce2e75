import type { CommandWord } from "./rules.js";

/** The parts of a text that may be names of programs or words for them. */
const PART = /[^\s"'`;|&<>()[\]{}$,=!:]+/g;

/**
 * The commands that a program which no table knows may run by the words it is given, as far as `isDenied` cares for their
 * names: each begins at some word, at the value of an option, or within a text. Words that are not known yet are passed over.
 */
export function* possibleCommands(
  parameters: readonly CommandWord[],
  isDenied: (word: string) => boolean,
): Generator<CommandWord[]> {
  for (const [index, { text }] of parameters.entries()) {
    if (text === undefined) continue;
    const parts = text.match(PART) ?? [];
    const isPlain = parts.length === 1 && parts[0] === text;
    if (isPlain && text.startsWith("-")) continue;
    for (const [at, part] of parts.entries()) {
      if (!isDenied(part)) continue;
      const words = parts.slice(at).map((word) => ({ text: word, source: word }));
      yield [...words, ...parameters.slice(index + 1)];
    }
  }
}
