import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";

const LONG_FLAGS =
  /^--(quiet|silent|debug|follow-symlinks|posix|regexp-extended|separate|unbuffered|null-data|zero-terminated|sandbox|version|help|in-place(=.*)?|line-length=\d+)$/s;

/** Throws `Unresolvable` if sed may run a command: the `e` command, the `e` flag of `s`, a script in a file. */
export function readSed(name: string, words: readonly CommandWord[]): undefined {
  if (name === "sed" || name === "gsed") checkSed(words);
}

function checkSed(words: readonly CommandWord[]): void {
  const operands: CommandWord[] = [];
  const scripts: string[] = [];
  let onlyOperands = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? { source: "" };
    const { text } = word;
    if (text === undefined || onlyOperands || text === "-" || !text.startsWith("-")) operands.push(word);
    else if (text === "--") onlyOperands = true;
    else if (/^-[bnrEsuz]*[el]$/.test(text) || text === "--expression") {
      const value = words[++index] ?? { source: "" };
      if (text.endsWith("l")) known(value);
      else scripts.push(known(value));
    } else if (/^-[bnrEsuz]*e|^--expression=/.test(text)) {
      scripts.push(text.replace(/^(-[bnrEsuz]*e|--expression=)/, ""));
    } else if (!/^-[bnrEsuz]*(i.*|l\d+)?$/s.test(text) && !LONG_FLAGS.test(text)) throw mayRun(word);
  }
  if (scripts.length === 0 && operands[0]) scripts.push(known(operands[0]));
  const script = scripts.join("\n");
  // Whether a delimiter inside brackets ends the pattern depends on the version of sed.
  if (runs(script, true) || runs(script, false)) throw mayRun({ source: script });
}

function known(word: CommandWord): string {
  if (word.text === undefined) throw mayRun(word);
  return word.text;
}

function mayRun(word: CommandWord): Unresolvable {
  return new Unresolvable(`sed may run commands by ${shown(word.source)}`);
}

/** Whether the script has a command that runs something. What sed itself would refuse runs nothing. */
function runs(script: string, brackets: boolean): boolean {
  let at = 0;
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(script)?.[0] ?? "";
    at += text.length;
    return text;
  };
  const skipPart = (delimiter: string, isPattern: boolean): void => {
    while (at < script.length && script[at] !== delimiter) {
      if (script[at] === "\\") at += 2;
      else if (script[at] === "[" && isPattern && brackets) at = endOfBrackets(script, at);
      else at++;
    }
    at++;
  };
  const skipAddress = (): void => {
    if (!skip(/[+~]?\d+|\$/y)) {
      const start = skip(/\/|\\[\s\S]/y);
      if (start === "") return;
      skipPart(start.at(-1) ?? "", true);
      skip(/[IM]+/y);
    }
    skip(/[ \t]*/y);
  };
  while (at < script.length) {
    skip(/[\s;{}]*/y);
    skipAddress();
    if (skip(/[,~][ \t]*/y)) skipAddress();
    skip(/[\s!]*/y);
    const command = script[at++];
    if (command === "e") return true;
    if (command === "s" || command === "y") {
      const delimiter = script[at++] ?? "";
      skipPart(delimiter, command === "s");
      skipPart(delimiter, false);
      const flags = command === "s" ? skip(/[a-zA-Z0-9 \t]*/y) : "";
      if (flags.split("w", 1)[0]?.includes("e")) return true;
      if (flags.includes("w")) skip(/.*/y);
      // As an old sed reads "s/[^/]*$//": it refuses the whole script.
      if (!";\n}#".includes(script[at] ?? ";")) return false;
    } else if (command !== undefined && "aic".includes(command)) skip(/(?:\\[\s\S]|[^\n\\])*/y);
    else if (command !== undefined && "rRwW#".includes(command)) skip(/.*/y);
    else if (command !== undefined && ":btTv".includes(command)) skip(/[ \t]*[^;\s}]*/y);
    else skip(/[ \t]*\d*/y);
  }
  return false;
}

/** Behind the bracket expression that begins here; the end of the script if it is never closed. */
function endOfBrackets(script: string, start: number): number {
  let at = start + 1;
  if (script[at] === "^") at++;
  if (script[at] === "]") at++;
  while (at < script.length && script[at] !== "]") {
    const kind = script[at] === "[" ? (script[at + 1] ?? "") : "";
    const end = /[:.=]/.test(kind) ? script.indexOf(`${kind}]`, at + 2) : at - 1;
    if (end === -1 && kind !== "") return script.length;
    at = end + 2;
  }
  return at + 1;
}
