import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import type { SimpleCommand } from "../script.js";
import type { Inside } from "./program.js";

const EXEC = /^-(exec|execdir|ok|okdir)$/;
const TAKES_VALUE =
  /^-(i?name|i?path|i?regex|i?lname|wholename|newer\w*|x?type|[acm]time|[acm]min|size|user|group|perm|maxdepth|mindepth|samefile|fstype)$/;

/** The commands behind `-exec` and its like. */
export function readFind(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!/^g?find$/.test(name)) return undefined;
  const commands: SimpleCommand[] = [];
  let inPaths = true;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const text = word?.text;
    if (text?.startsWith("-")) inPaths = false;
    if (text !== undefined && EXEC.test(text)) {
      let end = index + 1;
      // A "+" ends it only behind "{}": in "-exec env -u + rm {} ;" it is a word like any other.
      while (end < words.length && words[end]?.text !== ";") {
        if (words[end]?.text === "+" && words[end - 1]?.text === "{}") break;
        end++;
      }
      if (end === words.length) throw new Unresolvable(`the end of find's ${text} is not known`);
      commands.push({ words: words.slice(index + 1, end).map(withoutBraces), assigned: [] });
      index = end;
    } else if (text === undefined) {
      // An unknown word could be "-exec" itself, unless it stands for a path or the value of a test and cannot split.
      const next = words[index + 1];
      const isPath = inPaths && (next === undefined || next.text?.startsWith("-"));
      const isValue = TAKES_VALUE.test(words[index - 1]?.text ?? "");
      if (word?.splits || !(isPath || isValue)) {
        throw new Unresolvable(`${shown(word?.source ?? "")} could make find run anything`);
      }
    }
  }
  return { commands };
}

function withoutBraces(word: CommandWord): CommandWord {
  return word.text?.includes("{}") ? { source: word.source, splits: false } : word;
}
