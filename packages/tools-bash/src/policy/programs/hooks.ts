import { shown, Unresolvable } from "../refusal.js";
import { type CommandWord, leadsWith } from "../rules.js";
import { withoutContainerData } from "./containers.js";
import { refuseHiddenOption } from "./hiddenOptions.js";
import { type Entry, HOOKS } from "./hookTables.js";
import { type Inside, known, type Launched } from "./program.js";

/** Ordinary programs that run another one when an option or a subcommand tells them to. */
export function readHooks(name: string, parameters: readonly CommandWord[]): Inside {
  const unreadable = HOOKS.unreadable.find(([program]) => program.test(name))?.[1];
  const word = unreadable && parameters.find(({ text }) => text !== undefined && unreadable.test(text));
  if (word) throw new Unresolvable(`${name} may run a command by ${shown(word.source)}`);
  const otherwise = HOOKS.readsInput.find(([program]) => program.test(name))?.[1];
  if (otherwise && !parameters.some(({ text, source }) => otherwise.test(text ?? source))) {
    throw new Unresolvable(`${name} may run commands from its input, which cannot be seen here`);
  }
  if (name === "tar" && HOOKS.tarLettersThatRun.test(parameters[0]?.text ?? "")) {
    throw new Unresolvable(`tar may run a command by ${shown(parameters[0]?.source ?? "")}`);
  }
  const options = optionsFor(HOOKS.runningOptions, name, parameters);
  const restOptions = optionsFor(HOOKS.runningRest, name, parameters);
  const scripts = options.flatMap((option) => valuesOf(name, option, parameters));
  if (options.length > 0 || restOptions.length > 0 || unreadable) refuseHiddenOption(name, parameters);
  const launching = HOOKS.launching.get(name) ?? [];
  refuseHiddenSubcommand(name, launching, parameters);
  const launched: Launched[] = launching
    .filter((phrase) => leadsWith(phrase, parameters))
    .map((phrase) => ({ phrase, words: withoutContainerData(name, parameters) }));
  for (const option of restOptions) {
    const at = parameters.findIndex(({ text }) => text !== undefined && isOption(option, text));
    if (at === -1) continue;
    const phrase = [parameters[at]?.text ?? ""];
    launched.push({ phrase, words: parameters.slice(at + 1).map(withoutBraces) });
    launched.push({ phrase, words: attached(option, parameters[at]) });
  }
  return { scripts: scripts.map(commandText), launched };
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

/** Prefixes that mark a value as a command: "!" in an alias, "|" in LESSOPEN. */
export function commandText(value: string): string {
  const command = value.replace(/^[!|\-\s]+/, "");
  // A program that runs ssh, such as git, adds a host and a command to it.
  return /^(\S*\/)?ssh(\s|$)/.test(command) ? `${command} host true` : command;
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
    return given.length > 2 && option.startsWith(given);
  }
  if (option.length > 2) return text.split("=", 1)[0] === option || text.split("=", 1)[0] === `-${option}`;
  const at = text.indexOf(option[1] ?? "", 1);
  return at !== -1 && /^-[a-zA-Z0-9]*$/.test(text.slice(0, at));
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
