import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, isInput, known, type Launched, skipValue } from "./program.js";

const MAKE = /^(g|b|p|d|n)?make$/;
const FLAGS =
  /^(-[bBdeikLmnpqrRsStvw]+|-[jlO]\d*|-[CIo].+|--(always-make|directory=.*|ignore-errors|jobs(=\d+)?|keep-going|just-print|dry-run|silent|quiet|no-print-directory|question|touch|trace|version|help|no-builtin-rules|output-sync(=\w+)?|warn-undefined-variables))$/s;
const VALUES = /^(-[bBdeikLmnpqrRsStvw]*[CIo]|--directory|--include-dir)$/;
const FILE = /^(-[bBdeikLmnpqrRsStvw]*f|--file|--makefile)$/;
const ATTACHED_FILE = /^(?:-[bBdeikLmnpqrRsStvw]*f|--file=|--makefile=)(.+)$/s;

/** A makefile is a file, which is not judged: but not one from the input, and no rule or program in the words. */
export function readMake(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!MAKE.test(name)) return undefined;
  const launched: Launched[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? { source: "" };
    if (word.text === undefined && isNumberOrPath(word)) continue;
    const text = known(name, word);
    const file = FILE.test(text) ? known(name, words[++index]) : ATTACHED_FILE.exec(text)?.[1];
    const isRead = file === undefined || !isInput(file);
    if (!isRead)
      throw new Unresolvable(`${name} reads its rules from ${shown(file ?? "")}, which cannot be seen here`);
    if (file !== undefined) continue;
    if (VALUES.test(text)) skipValue(name, words[++index]);
    else if (text.startsWith("-") && text !== "--" && !FLAGS.test(text))
      throw new Unresolvable(`the option ${shown(text)} of ${name} is not known to the policy`);
    const [, variable, value = ""] = /^([^-=:?+!][^=]*)=(.*)$/s.exec(text) ?? [];
    if (variable === undefined) continue;
    if (/^\.?SHELL|MAKEFLAGS|MAKEFILES|^MAKE[:?+!]*$/.test(variable) || /[$`]|^!|!=/.test(text))
      throw new Unresolvable(`${name} may run a command by ${shown(text)}`);
    // "CC=clang" is a command, "CFLAGS=-O2" and "V=1" are not.
    if (/^[A-Za-z./]/.test(value)) launched.push({ words: [{ text: value, source: value }], phrase: [] });
  }
  return { launched };
}

function isNumberOrPath({ source, splits }: CommandWord): boolean {
  return /^-j\$\(nproc\)$/.test(source) || (splits !== true && /^"?[\w./]+[^=:]*$/.test(source));
}
