import type { CommandWord, SimpleCommand } from "../parser.js";
import { shown, Unresolvable } from "../refusal.js";

/** The commands a program runs besides itself, as far as its arguments show. */
export interface Inside {
  /** Texts for a shell. */
  readonly scripts?: readonly string[];
  readonly commands?: readonly SimpleCommand[];
  readonly launched?: readonly Launched[];
}

/** A command that begins at one of these words, at an unknown position. */
export interface Launched {
  readonly words: readonly CommandWord[];
  /** The words after the program's name that make it launch something: `exec` of `npm exec`. */
  readonly phrase: readonly string[];
}

/**
 * Examines the words after a program's name. Returns `undefined` for an unknown program. Throws `Unresolvable` if the
 * program may run something that its words do not show.
 */
export type ProgramReader = (name: string, words: readonly CommandWord[]) => Inside | undefined;

/** The text of a word that a program runs or treats as an option. Throws if it is unknown. */
export function known(name: string, word: CommandWord | undefined): string {
  if (word === undefined) return "";
  if (word.text === undefined)
    throw new Unresolvable(`${name} runs ${shown(word.source)}, which is not known yet`);
  return word.text;
}

/** Skips the value of an option: it may be unknown, but it must be one word. */
export function skipValue(name: string, word: CommandWord | undefined): void {
  if (word?.splits === true)
    throw new Unresolvable(`${shown(word.source)} may become several words after ${name}: quote it`);
}

/** Whether reading this file means reading the input, or what another process wrote. */
export function isInput(path: string): boolean {
  return path === "-" || /^\/+(\.?\.\/+)*(dev|proc)(\/|$)/.test(path) || /\.\.\/+(dev|proc)\//.test(path);
}

/** The command in the value of an option or variable, without marker prefixes: "!" in an alias, "|" in LESSOPEN. */
export function commandInValue(value: string): string {
  const command = value.replace(/^[!|\-\s]+/, "");
  // A program that runs ssh, such as git, adds a host and a command to it.
  return /^(\S*\/)?ssh(\s|$)/.test(command) ? `${command} host true` : command;
}
