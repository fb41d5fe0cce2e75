import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";

/** Letters of options whose value is the next word and runs nothing: that word may be unknown. */
const VALUE_LETTERS: readonly (readonly [program: RegExp, letters: string])[] = [
  [/^tar$/, "fCTX"],
  [/^git$/, "Cbm"],
  [/(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(-[\d.]+)?$/, "oILD"],
  [/make$/, "Cj"],
  [/^rg$/, "egt"],
  [/^sort$/, "okt"],
  [/^wget$/, "OP"],
  [/^(npm|pnpm)$/, "CF"],
  [/^(go|man|bat)$/, "oC"],
];

/** Programs whose operands hold commands of their own, so that no word of theirs may be unknown. */
const TAKES_SCRIPTS = /^(sqlite3|mysql|mariadb|psql|dc|lftp|ftp|socat)$/;

/**
 * Throws if a word that is not known yet could turn out to be an option by which the program runs another one:
 * `tar xf a "$X"`. What begins with a letter or a path cannot, nor can what stands behind "--".
 */
export function refuseHiddenOption(name: string, words: readonly CommandWord[]): void {
  const end = words.findIndex(({ text }) => text === "--");
  const scripts = TAKES_SCRIPTS.test(name);
  const letters = VALUE_LETTERS.find(([program]) => program.test(name))?.[1] ?? "";
  const reached = end === -1 || scripts ? words : words.slice(0, end);
  const hidden = reached.find((word, index) => {
    if (word.text !== undefined) return false;
    if (scripts) return true;
    return mayBeOption(word) && !isValue(word, words[index - 1], letters, name === "tar" && index === 1);
  });
  if (!hidden) return;
  const cure = scripts ? "" : '; put "--" or "./" in front of a file name';
  throw new Unresolvable(`${shown(hidden.source)} could be an option by which ${name} runs a command${cure}`);
}

function mayBeOption({ source, splits }: CommandWord): boolean {
  if (source === "-j$(nproc)") return false; // a number, and in every second build script
  return splits === true
    ? !/^[\w./:@]+\*/.test(source)
    : !/^["']?([\w./:@]|~(\/|$)|\$\{?(PWD|HOME)\b)/.test(source);
}

/** Whether the word is the value of an option, as behind "-xzf"; tar's first letters may lack the dash. */
function isValue(
  word: CommandWord,
  before: CommandWord | undefined,
  letters: string,
  dashless: boolean,
): boolean {
  if (word.splits === true || before?.text === undefined) return false;
  const cluster = dashless ? /^-?[a-zA-Z]*([a-zA-Z])$/ : /^-[a-zA-Z]*([a-zA-Z])$/;
  const last = cluster.exec(before.text)?.[1];
  return last !== undefined && letters.includes(last);
}
