import type { CommandWord, Variable } from "../parser.js";
import { shown, Unresolvable } from "../refusal.js";
import { commandName, leadsWith } from "../rules.js";
import { readBuiltin } from "./builtins.js";
import { readAwk, readFind, readGit, readMake, readSed } from "./languages.js";
import {
  commandInValue,
  type Inside,
  isInput,
  known,
  type Launched,
  type ProgramReader,
  skipValue,
} from "./program.js";
import {
  BUILD_TOOLS,
  CODE_MODULES,
  CODE_SUBCOMMANDS,
  COMMAND_AFTER_OPTION,
  COMMAND_OPTIONS,
  CONTAINER_ATTACHED_VALUE,
  CONTAINER_FLAGS,
  CONTAINER_VALUES,
  CONTAINERS,
  DATA_VALUE_LETTERS,
  DYNAMIC_LOADER,
  INTERPRETER_COMPLETE,
  INTERPRETER_FLAGS,
  INTERPRETER_VALUES,
  LAUNCHERS,
  LAUNCHING_PHRASES,
  type OptionEntry,
  PROGRAM_SUBCOMMANDS,
  READS_INPUT_UNLESS,
  RUN_SUBCOMMANDS,
  TAKES_SCRIPTS,
  TAR_LETTERS_THAT_RUN,
  UNREADABLE_WORDS,
  WRAPPERS,
  type Wrapper,
  wordPattern,
} from "./table.js";

const READERS: readonly ProgramReader[] = [
  readWrapper,
  readLauncher,
  readSubcommand,
  readShell,
  readBuiltin,
  readFind,
  readAwk,
  readSed,
  readInterpreter,
  readMake,
  readGit,
  readOptions,
];

/**
 * The commands that a command runs besides its own program. Throws `Unresolvable` if its arguments do not show them.
 */
export function inside(command: readonly CommandWord[]): Required<Inside> {
  const name = commandName(command[0]?.text ?? "");
  const found = READERS.map((read) => read(name, command.slice(1)) ?? {});
  return {
    scripts: found.flatMap(({ scripts = [] }) => scripts),
    commands: found.flatMap(({ commands = [] }) => commands),
    launched: found.flatMap(({ launched = [] }) => launched),
  };
}

// ——— wrappers: `timeout 5 rm x`

function readWrapper(name: string, words: readonly CommandWord[]): Inside | undefined {
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return undefined;
  const options = wrapperOptions(name, wrapper, words);
  if (options === "query") return {};
  const assigned: Variable[] = [];
  let index = options.end;
  if (wrapper.assignments) for (; isAssignment(words[index]); index++) assigned.push(variable(words[index]));
  for (const word of words.slice(index, index + wrapper.operands)) known(name, word);
  const inner = words.slice(index + wrapper.operands);
  if (inner.length === 0 && (wrapper.script || wrapper.operands > 0))
    throw new Unresolvable(`${name} without a command starts a shell that reads its input`);
  if (inner.length === 0) return { commands: [{ words: [], assigned }] };
  if (wrapper.script) return { scripts: [inner.map((word) => known(name, word)).join(" ")] };
  return { commands: [{ words: name === "xargs" ? withInput(inner, options.replaced) : inner, assigned }] };
}

/** The end of the options, and the placeholder that xargs replaces with its input. */
function wrapperOptions(name: string, wrapper: Wrapper, words: readonly CommandWord[]) {
  let replaced: string | undefined;
  let index = 0;
  for (; index < words.length; index++) {
    const { text, source } = words[index] ?? { source: "" };
    if (text === undefined) {
      if (isAssignment(words[index])) break;
      throw new Unresolvable(`it is not known which command ${name} runs after ${shown(source)}`);
    }
    if (wrapper.queries.includes(text)) return "query";
    if (text === "--") {
      index++;
      break;
    }
    if (text === "-" && name === "env") continue; // the same as -i
    if (!text.startsWith("-")) break;
    const option = wrapperOption(wrapper, text);
    if (option === undefined)
      throw new Unresolvable(`the option ${shown(text)} of ${name} is not known to the policy`);
    const value = option.attached ?? (option.takesNext ? words[++index] : undefined);
    if (option.isReplacement) replaced = typeof value === "string" ? value : known(name, value);
    if (typeof value === "object") skipValue(name, value);
  }
  return { end: index, replaced };
}

function wrapperOption(wrapper: Wrapper, text: string) {
  if (text.startsWith("--")) {
    const [name = ""] = text.split("=", 1);
    const takesValue = wrapper.options.get(name);
    const attached = takesValue && text.includes("=") ? text.slice(name.length + 1) : undefined;
    if (takesValue === undefined) return undefined;
    return { takesNext: takesValue && attached === undefined, attached, isReplacement: name === "--replace" };
  }
  for (let at = 1; at < text.length; at++) {
    const takesValue = wrapper.options.get(`-${text[at]}`);
    if (takesValue === undefined) return undefined;
    if (!takesValue) continue;
    const attached = text.slice(at + 1) || undefined;
    return { takesNext: attached === undefined, attached, isReplacement: text[at] === "I" };
  }
  return { takesNext: false, attached: undefined, isReplacement: false };
}

/** The variable that "NAME=value" sets; a word without "=" is only a name. */
export function variable(word: CommandWord | undefined): Variable {
  const [name = "", ...rest] = (word?.text ?? word?.source ?? "").split("=");
  const isKnown = word?.text !== undefined && rest.length > 0 && !name.endsWith("+");
  return { name: name.replace(/\+$/, ""), value: isKnown ? rest.join("=") : undefined };
}

function isAssignment(word: CommandWord | undefined): boolean {
  // env, unlike a shell, accepts any name: bash imports functions from "BASH_FUNC_ls%%=() { …; }".
  if (word?.text !== undefined) return /^[^-=][^=]*=/.test(word.text);
  // "env A=$x": the value may split, and its second word may be the command.
  return word !== undefined && word.splits !== true && /^[A-Za-z_]\w*\+?=/.test(word.source);
}

/** xargs adds words from its input at the end, or puts them in place of the placeholder. */
function withInput(words: readonly CommandWord[], replaced: string | undefined): CommandWord[] {
  if (!replaced) return [...words, { source: "(input of xargs)", splits: true }];
  return words.map((word) => (word.text?.includes(replaced) ? { source: word.source, splits: false } : word));
}

// ——— launchers: `strace -o log rm x`, `lxc exec box -- rm x`

function readLauncher(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (!LAUNCHERS.has(name) && !DYNAMIC_LOADER.test(name)) return undefined;
  const has = (pattern: RegExp): boolean => words.some(({ text }) => pattern.test(text ?? ""));
  const hasCommand = words.some(({ text }) => !text?.startsWith("-")) || has(/^(-V|-h|--version|--help)$/);
  const readsInput =
    (name === "parallel" && (!has(/^:::$/) || has(/^(::::|-a|--arg)/))) ||
    (name === "nix-shell" && !has(/^--(run|command)$/));
  if (!hasCommand || readsInput)
    throw new Unresolvable(`${name} without a command takes commands from its input or a file`);
  return { launched: [{ words, phrase: [] }] };
}

/** Unknown programs. Unknown words are skipped: they are arguments more often than commands. */
function readSubcommand(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (LAUNCHING_PHRASES.has(name) || BUILD_TOOLS.has(name)) return undefined;
  const at = words.findIndex(({ text }) => text === undefined || !text.startsWith("-"));
  if (!RUN_SUBCOMMANDS.has(words[at]?.text ?? "")) return undefined;
  return { launched: [{ words: words.slice(at + 1).filter(({ text }) => text !== undefined), phrase: [] }] };
}

// ——— shells: `sh -c 'text'`, `eval text`, `trap text`

const SHELL = /^(a|ba|da|k|mk|lk|pdk|ok|lok|rba|rk|ya|z|rz|hu)?sh(93)?([-.\d].*)?$/;

function readShell(name: string, words: readonly CommandWord[]): Inside | undefined {
  if (SHELL.test(name)) return { scripts: [shellScript(name, words)] };
  if (name === "eval") return { scripts: [words.map((word) => known(name, word)).join(" ")] };
  if (name !== "trap") return undefined;
  const [first] = words[0]?.text === "--" ? words.slice(1) : words;
  if (first === undefined || first.text === "-" || /^(-[lp]|\d*)$/.test(first.text ?? "?")) return {};
  return { scripts: [known("trap", first)] };
}

/** The text after `-c`. A shell without one reads a file or its input. */
function shellScript(name: string, words: readonly CommandWord[]): string {
  for (let index = 0; index < words.length; index++) {
    const text = known(name, words[index]);
    if (/^[-+][A-Za-z]*o$/.test(text) && !text.includes("c")) known(name, words[++index]);
    else if (/^-[eufxlc]*c[eufxlc]*$/.test(text)) {
      // "bash -c -x 'text'": further options may stand between -c and its text.
      const length = words.slice(index + 1).findIndex((word) => !/^[-+]/.test(word.text ?? ""));
      if (length === -1) break;
      const options = words.slice(index, index + 1 + length);
      // "sh -c -o errexit 'text'": the first word would be mistaken for the text.
      if (options.some((word) => /o/i.test(word.text ?? "")))
        throw new Unresolvable(`an option of ${name} next to -c takes a word in front of the script`);
      return known(name, words[index + 1 + length]);
    } else if (!/^[-+][eufx]+$/.test(text)) break;
  }
  throw new Unresolvable(
    `${name} without -c runs commands from a file or its input, which cannot be seen here`,
  );
}

// ——— interpreters: `node -e 'code'`

/** Whether a program runs code from a file or an argument, in its own language. */
export function isInterpreter(program: string): boolean {
  return wordPattern(INTERPRETER_FLAGS, program) !== undefined;
}

function readInterpreter(name: string, words: readonly CommandWord[]): Inside | undefined {
  const flags = wordPattern(INTERPRETER_FLAGS, name);
  if (flags === undefined) return undefined;
  const mayRun = (source: string): Unresolvable =>
    new Unresolvable(`${name} may run code by ${shown(source)}, which is not examined`);
  const hasSubcommands = /^(deno|bun)$/.test(name);
  let isComplete = false;
  for (let index = 0; index < words.length; index++) {
    const { text, source } = words[index] ?? { source: "" };
    // Unless it begins with a letter or a path, an unknown word may be an option that contains code.
    if (text === undefined && !/^("?[\w./]|~\/)/.test(source))
      throw new Unresolvable(`${name} runs ${shown(source)}, which is not known yet`);
    if (hasSubcommands && text === "run") continue;
    if (hasSubcommands && PROGRAM_SUBCOMMANDS.test(text ?? "")) return {};
    if (hasSubcommands && CODE_SUBCOMMANDS.test(text ?? "")) throw mayRun(source);
    if (text === undefined || !text.startsWith("-") || text === "-") {
      if (isInput(text ?? source.replaceAll('"', "")) || /^data:/i.test(text ?? "")) break;
      return {};
    }
    const takesNext = wordPattern(INTERPRETER_VALUES, name)?.test(text) === true;
    if (!takesNext && !flags.test(text)) throw mayRun(source);
    isComplete ||= wordPattern(INTERPRETER_COMPLETE, name)?.test(text) === true;
    if (takesNext) skipValue(name, words[++index]);
    const module = /^(python|pypy)/.test(name) ? /^-[a-zA-Z]*m(.*)$/s.exec(text) : null;
    if (module === null) continue;
    const called = module[1] || words[index]?.text;
    if (called === undefined || CODE_MODULES.test(called)) throw mayRun(words[index]?.source ?? source);
    return {};
  }
  if (isComplete) return {};
  throw new Unresolvable(`${name} runs code from its input, which cannot be seen here`);
}

// ——— options and subcommands of ordinary programs: `tar --to-command=rm`, `npm exec rm`

function readOptions(name: string, words: readonly CommandWord[]): Inside {
  const unreadable = wordPattern(UNREADABLE_WORDS, name);
  const word = unreadable && words.find(({ text }) => text !== undefined && unreadable.test(text));
  if (word) throw new Unresolvable(`${name} may run a command by ${shown(word.source)}`);
  const otherwise = wordPattern(READS_INPUT_UNLESS, name);
  if (otherwise && !words.some(({ text, source }) => otherwise.test(text ?? source)))
    throw new Unresolvable(`${name} may run commands from its input, which cannot be seen here`);
  if (name === "tar" && TAR_LETTERS_THAT_RUN.test(words[0]?.text ?? ""))
    throw new Unresolvable(`tar may run a command by ${shown(words[0]?.source ?? "")}`);
  const options = optionsFor(COMMAND_OPTIONS.get(name), words);
  const restOptions = optionsFor(COMMAND_AFTER_OPTION.get(name), words);
  const scripts = options.flatMap((option) => valuesOf(name, option, words)).map(commandInValue);
  if (options.length > 0 || restOptions.length > 0 || unreadable) refuseHiddenOption(name, words);
  const launched: Launched[] = launchedBySubcommand(name, words);
  for (const option of restOptions) {
    const at = words.findIndex(({ text }) => text !== undefined && isOption(option, text));
    const text = words[at]?.text;
    if (text === undefined) continue;
    const value = attachedValue(option, text);
    launched.push({ phrase: [text], words: words.slice(at + 1).map(withoutBraces) });
    if (value !== undefined) launched.push({ phrase: [text], words: [{ text: value, source: value }] });
  }
  return { scripts, launched };
}

function launchedBySubcommand(name: string, words: readonly CommandWord[]): Launched[] {
  const phrases = LAUNCHING_PHRASES.get(name) ?? [];
  for (const phrase of phrases) {
    // An unknown word may be the subcommand: `npm "$X" rm`.
    const word = words[phrase.findIndex((part, index) => words[index]?.text !== part)];
    if (word !== undefined && word.text === undefined)
      throw new Unresolvable(`${shown(word.source)} could make ${name} run a command`);
  }
  return phrases
    .filter((phrase) => leadsWith(phrase, words))
    .map((phrase) => ({ phrase, words: CONTAINERS.test(name) ? withoutContainerData(words) : words }));
}

/** The words of `docker run` without the values that are data, such as `-v "$PWD":/app`, up to the first unknown option. */
function withoutContainerData(words: readonly CommandWord[]): readonly CommandWord[] {
  const kept: CommandWord[] = [];
  for (let index = 0; index < words.length; index++) {
    const { text = "", source, splits } = words[index] ?? { source: "" };
    const isUnknown = words[index]?.text === undefined;
    const value = words[index + 1];
    if (CONTAINER_VALUES.test(text) && value !== undefined && value.splits !== true) index++;
    else if (isUnknown && splits !== true && CONTAINER_ATTACHED_VALUE.test(source)) continue;
    else if (CONTAINER_FLAGS.test(text)) kept.push({ text, source });
    else return [...kept, ...words.slice(index)];
  }
  return kept;
}

function optionsFor(entries: readonly OptionEntry[] = [], words: readonly CommandWord[]): string[] {
  return entries.filter(({ phrase }) => leadsWith(phrase, words)).flatMap(({ options }) => options);
}

/** All values of an option, attached or as the next word. */
function valuesOf(name: string, option: string, words: readonly CommandWord[]): string[] {
  return words.flatMap(({ text }, index) =>
    text !== undefined && isOption(option, text)
      ? [attachedValue(option, text) ?? known(name, words[index + 1])]
      : [],
  );
}

/** "--exec", "--exec=x", an abbreviation of it; "-x", "-xvalue", and "-x" after other letters. */
function isOption(option: string, text: string): boolean {
  if (!text.startsWith("-")) return false;
  const [given = ""] = text.split("=", 1);
  if (option.startsWith("--")) return given.length > 2 && option.startsWith(given);
  if (option.length > 2) return given === option || given === `-${option}`;
  const at = text.indexOf(option[1] ?? "", 1);
  return at !== -1 && /^-[a-zA-Z0-9]*$/.test(text.slice(0, at));
}

function attachedValue(option: string, text: string): string | undefined {
  if (option.length > 2) return text.includes("=") ? text.slice(text.indexOf("=") + 1) : undefined;
  return text.slice(text.indexOf(option[1] ?? "") + 1) || undefined;
}

function withoutBraces(word: CommandWord): CommandWord {
  return word.text?.includes("{") ? { source: word.source, text: "-" } : word;
}

/**
 * Throws if an unknown word could be an option by which the program runs another one: `tar xf a "$X"`. A word that
 * begins with a letter or a path, or that follows "--", cannot be one.
 */
function refuseHiddenOption(name: string, words: readonly CommandWord[]): void {
  const takesScripts = TAKES_SCRIPTS.test(name);
  const end = takesScripts ? -1 : words.findIndex(({ text }) => text === "--");
  const letters = wordPattern(DATA_VALUE_LETTERS, name);
  const hidden = words.slice(0, end === -1 ? undefined : end).find((word, index) => {
    if (word.text !== undefined) return false;
    if (takesScripts) return true;
    // A value follows "-xzf"; tar's first letters may lack the dash.
    const cluster = name === "tar" && index === 1 ? /^-?[a-zA-Z]*([a-zA-Z])$/ : /^-[a-zA-Z]*([a-zA-Z])$/;
    const letter = cluster.exec(words[index - 1]?.text ?? "")?.[1];
    const isValue = word.splits !== true && letter !== undefined && letters?.test(letter) === true;
    return mayBeOption(word) && !isValue;
  });
  if (!hidden) return;
  const hint = takesScripts ? "" : '; put "--" or "./" in front of a file name';
  throw new Unresolvable(`${shown(hidden.source)} could be an option by which ${name} runs a command${hint}`);
}

function mayBeOption({ source, splits }: CommandWord): boolean {
  if (source === "-j$(nproc)") return false; // a number, and in every second build script
  if (splits === true) return !/^[\w./:@]+\*/.test(source);
  return !/^["']?([\w./:@]|~(\/|$)|\$\{?(PWD|HOME)\b)/.test(source);
}
