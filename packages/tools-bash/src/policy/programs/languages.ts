// Programs whose arguments are a small language that can run commands: find, awk, sed, make and git.
import { quoteForShell } from "@agent/core/toolkit";
import type { CommandWord, SimpleCommand } from "../parser.js";
import { shown, Unresolvable } from "../refusal.js";
import { commandInValue, type Inside, isInput, known, type Launched, skipValue } from "./program.js";
import {
  GIT_COMMAND_SETTING,
  GIT_FLAGS,
  GIT_SETS_CONFIG,
  GIT_SUBCOMMANDS,
  GIT_UNREADABLE_SETTING,
  GIT_VALUES,
} from "./table.js";

// ——— find

const FIND_EXEC = /^-(exec|execdir|ok|okdir)$/;
const FIND_TAKES_VALUE =
  /^-(i?name|i?path|i?regex|i?lname|wholename|newer\w*|x?type|[acm]time|[acm]min|size|user|group|perm|maxdepth|mindepth|samefile|fstype)$/;

/** The commands after `-exec` and similar actions. */
export function readFind(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!/^g?find$/.test(name)) return undefined;
  const commands: SimpleCommand[] = [];
  let inPaths = true;
  for (let index = 0; index < words.length; index++) {
    const { text, source, splits } = words[index] ?? { source: "" };
    if (text?.startsWith("-")) inPaths = false;
    if (text !== undefined && FIND_EXEC.test(text)) {
      // A "+" ends it only after "{}": in "-exec env -u + rm {} ;" it is an ordinary word.
      const isEnd = (word: CommandWord, at: number): boolean =>
        at > index && (word.text === ";" || (word.text === "+" && words[at - 1]?.text === "{}"));
      const end = words.findIndex(isEnd);
      if (end === -1) throw new Unresolvable(`the end of find's ${text} is not known`);
      const inner = words
        .slice(index + 1, end)
        .map((word) => (word.text?.includes("{}") ? { source: word.source, splits: false } : word));
      commands.push({ words: inner, assigned: [] });
      index = end;
    } else if (text === undefined) {
      // An unknown word could be "-exec" itself, unless it is in the position of a path or a test's value and cannot
      // split.
      const next = words[index + 1];
      const isPath = inPaths && (next === undefined || next.text?.startsWith("-"));
      const isValue = FIND_TAKES_VALUE.test(words[index - 1]?.text ?? "");
      if (splits || !(isPath || isValue))
        throw new Unresolvable(`${shown(source)} could make find run anything`);
    }
  }
  return { commands };
}

// ——— awk

/** The program text of awk is its first operand; files and variables follow. */
export function readAwk(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!/^(g|m|n|original-)?awk$/.test(name)) return undefined;
  for (let index = 0; index < words.length; index++) {
    const text = known("awk", words[index]);
    if (/^-[vF]$/.test(text)) skipValue(name, words[++index]);
    else if (/^(-[vF]|--$)/.test(text)) continue;
    else if (text.startsWith("-") || /system|(?<!\|)\|(?!\|)|getline|@/.test(text))
      throw new Unresolvable(`awk may run commands by ${shown(text)}`);
    else return {};
  }
  return {};
}

// ——— sed

const SED_LONG_FLAGS =
  /^--(quiet|silent|debug|follow-symlinks|posix|regexp-extended|separate|unbuffered|null-data|zero-terminated|sandbox|version|help|in-place(=.*)?|line-length=\d+)$/s;

/** Throws `Unresolvable` if sed may run a command: the `e` command, the `e` flag of `s`, a script in a file. */
export function readSed(name: string, words: readonly CommandWord[]): undefined {
  if (!/^g?sed$/.test(name)) return;
  const mayRun = (source: string): Unresolvable =>
    new Unresolvable(`sed may run commands by ${shown(source)}`);
  const textOf = ({ text, source }: CommandWord = { text: "", source: "" }): string => {
    if (text === undefined) throw mayRun(source);
    return text;
  };
  const operands: CommandWord[] = [];
  const scripts: string[] = [];
  let onlyOperands = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? { source: "" };
    const { text } = word;
    if (text === undefined || onlyOperands || text === "-" || !text.startsWith("-")) operands.push(word);
    else if (text === "--") onlyOperands = true;
    else if (/^-[bnrEsuz]*l$/.test(text)) textOf(words[++index]);
    else if (/^-[bnrEsuz]*e$/.test(text) || text === "--expression") scripts.push(textOf(words[++index]));
    else if (/^-[bnrEsuz]*e|^--expression=/.test(text))
      scripts.push(text.replace(/^(-[bnrEsuz]*e|--expression=)/, ""));
    else if (!/^-[bnrEsuz]*(i.*|l\d+)?$/s.test(text) && !SED_LONG_FLAGS.test(text)) throw mayRun(word.source);
  }
  if (scripts.length === 0 && operands[0]) scripts.push(textOf(operands[0]));
  const script = scripts.join("\n");
  // Whether a delimiter inside brackets ends the pattern depends on the version of sed.
  if (sedRuns(script, true) || sedRuns(script, false)) throw mayRun(script);
}

/** Whether the script contains a command that runs something. A script that sed would refuse runs nothing. */
function sedRuns(script: string, brackets: boolean): boolean {
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
    const command = script[at++] ?? "";
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
    } else if (/[aic]/.test(command)) skip(/(?:\\[\s\S]|[^\n\\])*/y);
    else if (/[rRwW#]/.test(command)) skip(/.*/y);
    else if (/[:btTv]/.test(command)) skip(/[ \t]*[^;\s}]*/y);
    else skip(/[ \t]*\d*/y);
  }
  return false;
}

/** The position after the bracket expression that begins here; the end of the script if it is never closed. */
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

// ——— make

const MAKE_FLAGS =
  /^(-[bBdeikLmnpqrRsStvw]+|-[jlO]\d*|-[CIo].+|--(always-make|directory=.*|ignore-errors|jobs(=\d+)?|keep-going|just-print|dry-run|silent|quiet|no-print-directory|question|touch|trace|version|help|no-builtin-rules|output-sync(=\w+)?|warn-undefined-variables))$/s;
const MAKE_VALUES = /^(-[bBdeikLmnpqrRsStvw]*[CIo]|--directory|--include-dir)$/;
const MAKE_FILE = /^(-[bBdeikLmnpqrRsStvw]*f|--file|--makefile)$/;
const MAKE_ATTACHED_FILE = /^(?:-[bBdeikLmnpqrRsStvw]*f|--file=|--makefile=)(.+)$/s;

/**
 * A makefile is a file, which is not judged. But a makefile from the input, and rules or programs in the arguments, are
 * refused.
 */
export function readMake(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!/^(g|b|p|d|n)?make$/.test(name)) return undefined;
  const launched: Launched[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? { source: "" };
    const isNumberOrPath =
      word.source === "-j$(nproc)" || (word.splits !== true && /^"?[\w./]+[^=:]*$/.test(word.source));
    if (word.text === undefined && isNumberOrPath) continue;
    const text = known(name, word);
    const file = MAKE_FILE.test(text) ? known(name, words[++index]) : MAKE_ATTACHED_FILE.exec(text)?.[1];
    if (file !== undefined && isInput(file))
      throw new Unresolvable(`${name} reads its rules from ${shown(file)}, which cannot be seen here`);
    if (file !== undefined) continue;
    if (MAKE_VALUES.test(text)) skipValue(name, words[++index]);
    else if (text.startsWith("-") && text !== "--" && !MAKE_FLAGS.test(text))
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

// ——— git

const GIT_SETTING = /^(?:-c|--c[a-z]*=)?([\w-]+(?:\.[^=]*)?\.[\w-]+)(?:=(.*))?$/s;

/**
 * Finds the commands that settings make git run. Throws for a subcommand that is neither git's own nor a known alias.
 */
export function readGit(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (name !== "git") return undefined;
  const at = gitSubcommandIndex(words);
  const subcommand = at === words.length ? undefined : known(name, words[at]);
  const scripts = gitSettings(words, at, subcommand);
  const isAlias = words
    .slice(0, at)
    .some(({ text }) => text?.toLowerCase().startsWith(`alias.${subcommand?.toLowerCase()}=`));
  if (subcommand !== undefined && !GIT_SUBCOMMANDS.has(subcommand) && !isAlias)
    throw new Unresolvable(
      `${shown(`git ${subcommand}`)} is not a command of git itself, and may be an alias for any`,
    );
  const remote = words.find(({ text }) => text !== undefined && /^(ext|fd)::/.test(text));
  if (remote) throw new Unresolvable(`git runs a command by ${shown(remote.source)}`);
  return { scripts };
}

/** The position of the subcommand. Throws for an option that may or may not take the next word. */
function gitSubcommandIndex(words: readonly CommandWord[]): number {
  let index = 0;
  for (; index < words.length; index++) {
    const { text, source } = words[index] ?? { source: "" };
    if (text === "-c") {
      const setting = words[++index] ?? { source: "" };
      const isNamed = /^"?[\w-]+\.[\w.-]+(=|"?$)/.test(setting.source.replace(/^'/, ""));
      if (setting.splits === true || !isNamed)
        throw new Unresolvable(`what "git -c" sets by ${shown(setting.source)} is not known yet`);
    } else if (text !== undefined && GIT_VALUES.test(text)) skipValue("git", words[++index]);
    else if (text === undefined || !text.startsWith("-")) break;
    else if (!GIT_FLAGS.test(text))
      throw new Unresolvable(`the option ${shown(source)} of git is not known to the policy`);
  }
  return index;
}

/** The commands in settings: before the subcommand, and after one that sets the configuration. */
function gitSettings(words: readonly CommandWord[], at: number, subcommand = ""): string[] {
  return words.slice(0, GIT_SETS_CONFIG.has(subcommand) ? words.length : at).flatMap((word, index) => {
    const text = word.text ?? word.source.replace(/^["']/, "");
    const [, key = "", attached] = GIT_SETTING.exec(text) ?? [];
    const next = subcommand === "config" ? words[index + 1] : undefined;
    if (key === "" || (attached === undefined && next === undefined)) return [];
    if (GIT_UNREADABLE_SETTING.test(key))
      throw new Unresolvable(`git reads what it runs from ${shown(text)}`);
    if (!GIT_COMMAND_SETTING.test(key)) return [];
    const value = attached === undefined ? known("git", next) : known("git", word) && attached;
    if (!/^alias\./i.test(key)) return [commandInValue(value)];
    const command = /^\s*!/.test(value) ? commandInValue(value) : `git ${value}`;
    // An alias called here gets the words after it.
    const isCalled = key.slice("alias.".length).toLowerCase() === subcommand.toLowerCase();
    const rest = isCalled ? words.slice(at + 1).map((given) => known("git", given)) : [];
    return [[command, ...rest.map(quoteForShell)].join(" ")];
  });
}
