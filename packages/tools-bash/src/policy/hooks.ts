import { withoutContainerData } from "./containers.js";
import { refuseHiddenOption } from "./hiddenOptions.js";
import { type Entry, hookTables } from "./hookTables.js";
import { shown, Unresolvable } from "./refusal.js";
import { type CommandWord, leadsWith } from "./rules.js";

/** What the words of a command name to be run: texts for a shell, and command lines that begin somewhere. */
export interface Hooked {
  readonly scripts: readonly string[];
  readonly launched: readonly (readonly CommandWord[])[];
}

/** Throws `Unresolvable` if a word makes the program run what cannot be read. */
export function hooked(name: string, words: readonly CommandWord[]): Hooked {
  const tables = hookTables();
  const parameters = words.slice(1);
  const unreadable = tables.unreadable.find(([program]) => program.test(name))?.[1];
  const word = unreadable && parameters.find(({ text }) => text !== undefined && unreadable.test(text));
  if (word) throw new Unresolvable(`${name} may run a command by ${shown(word.source)}`);
  const otherwise = tables.readsInput.find(([program]) => program.test(name))?.[1];
  if (otherwise && !parameters.some(({ text, source }) => otherwise.test(text ?? source))) {
    throw new Unresolvable(`${name} may run commands from its input, which cannot be seen here`);
  }
  if (name === "tar" && tables.tarLettersThatRun.test(parameters[0]?.text ?? "")) {
    throw new Unresolvable(`tar may run a command by ${shown(parameters[0]?.source ?? "")}`);
  }
  const options = optionsFor(tables.runningOptions, name, parameters);
  const restOptions = optionsFor(tables.runningRest, name, parameters);
  const scripts = options.flatMap((option) => valuesOf(name, option, parameters));
  // What git itself takes stands in front of the subcommand, which refuseHiddenSubcommand looks at.
  const isOpen = options.length > 0 || restOptions.length > 0 || (unreadable && name !== "git");
  if (isOpen) refuseHiddenOption(name, parameters);
  if (name === "git") scripts.push(...gitSettings(parameters));
  const launching = tables.launching.get(name) ?? [];
  refuseHiddenSubcommand(name, launching, parameters);
  const launched = launching
    .filter((phrase) => leadsWith(phrase, parameters))
    .map(() => withoutContainerData(name, parameters));
  for (const option of restOptions) {
    const at = parameters.findIndex(({ text }) => text !== undefined && isOption(option, text));
    if (at !== -1)
      launched.push(parameters.slice(at + 1).map(withoutBraces), attached(option, parameters[at]));
  }
  return { scripts: scripts.map(asScript), launched };
}

/** Throws if a word that is not known yet stands where a subcommand that runs a command could: `npm "$X" rm`. */
function refuseHiddenSubcommand(
  name: string,
  launching: readonly (readonly string[])[],
  words: readonly CommandWord[],
): void {
  for (const phrase of launching) {
    const at = phrase.findIndex((part, index) => words[index]?.text !== part);
    const word = words[at];
    if (word !== undefined && word.text === undefined) {
      throw new Unresolvable(`${shown(word.source)} could make ${name} run a command`);
    }
  }
}

/** The commands that setting a variable names. Throws `Unresolvable` if the value is not known. */
export function hookedVariable(name: string, value: string | undefined): readonly string[] {
  const dangerous = hookTables().optionVariables.find(([pattern]) => pattern.test(name))?.[1];
  if (dangerous && (value === undefined || dangerous.test(value))) {
    throw new Unresolvable(`setting ${name} can make a program run another one`);
  }
  if (!hookTables().commandVariables.has(name) || value === "") return [];
  // Whoever runs it gives it a command.
  if (name === "SHELL" && /^[\w./-]*\/(ba|da|fi|k|z)?sh$/.test(value ?? "")) return [];
  if (value === undefined) throw new Unresolvable(`the value of ${name} is a command that is not known yet`);
  return [asScript(value)];
}

/** What stands in front of a command in some of these places: "!" in an alias, "|" in LESSOPEN. */
function asScript(value: string): string {
  const command = value.replace(/^[!|\-\s]+/, "");
  // It is given a host and a command by whoever runs it.
  return /^(\S*\/)?ssh(\s|$)/.test(command) ? `${command} host true` : command;
}

function gitSettings(words: readonly CommandWord[]): string[] {
  return words.flatMap((word, index) => {
    const text = word.text ?? word.source;
    const [, key = "", value] = /^(?:-c|--config=)?([\w-]+(?:\..*)?\.[\w-]+)(?:=(.*))?$/s.exec(text) ?? [];
    if (!isSet(words, index, value)) return [];
    if (hookTables().gitUnreadableSetting.test(key))
      throw new Unresolvable(`git reads what it runs from ${shown(text)}`);
    if (!hookTables().gitCommandSetting.test(key)) return [];
    return [value === undefined ? known("git", words[index + 1]) : known("git", word) && value];
  });
}

/** Whether the word at `index` sets something: "-c key=value", or "config key value". */
function isSet(words: readonly CommandWord[], index: number, value: string | undefined): boolean {
  if (value === undefined) return leadsWith(["config"], words) && words[index + 1] !== undefined;
  return /^(-c|--config)$/.test(words[index - 1]?.text ?? "") || /^-/.test(words[index]?.text ?? "");
}

function optionsFor(
  source: ReadonlyMap<string, readonly Entry[]>,
  name: string,
  words: readonly CommandWord[],
) {
  const entries = source.get(name) ?? [];
  return entries.filter(({ phrase }) => leadsWith(phrase, words)).flatMap(({ options }) => options);
}

/** All values an option is given, whether attached or the next word. */
function valuesOf(name: string, option: string, words: readonly CommandWord[]): string[] {
  return words.flatMap((word, index) => {
    if (word.text === undefined || !isOption(option, word.text)) return [];
    const value = attachedText(option, word.text);
    return [value ?? known(name, words[index + 1])];
  });
}

/** "--exec", "--exec=x", an abbreviation of it; "-x", "-xvalue", and "-x" behind other letters. */
function isOption(option: string, text: string): boolean {
  if (!text.startsWith("-")) return false;
  if (option.startsWith("--")) {
    const given = text.split("=", 1)[0] ?? "";
    return given.length > 4 && option.startsWith(given);
  }
  if (option.length > 2) return text.split("=", 1)[0] === option || text.split("=", 1)[0] === `-${option}`;
  return !text.startsWith("--") && new RegExp(`^-[a-zA-Z]*${option[1]}`).test(text);
}

function attachedText(option: string, text: string): string | undefined {
  if (option.length > 2) return text.includes("=") ? text.slice(text.indexOf("=") + 1) : undefined;
  return text.slice(text.indexOf(option[1] ?? "") + 1) || undefined;
}

function attached(option: string, word: CommandWord | undefined): CommandWord[] {
  const text = attachedText(option, word?.text ?? "");
  return text === undefined ? [] : [{ text, source: text }];
}

function withoutBraces(word: CommandWord): CommandWord {
  return word.text?.includes("{") ? { source: word.source, text: "-" } : word;
}

function known(name: string, word: CommandWord | undefined): string {
  if (word === undefined) return "";
  if (word.text === undefined)
    throw new Unresolvable(`${name} runs ${shown(word.source)}, which is not known yet`);
  return word.text;
}
