import { quote } from "@agent/core/toolkit";
import { type CommandWord, type SimpleCommand, simpleCommands, type Variable } from "./parser.js";
import { NAMES_VARIABLES, readVariable } from "./programs/builtins.js";
import { inside, variable } from "./programs/inside.js";
import type { Launched } from "./programs/program.js";
import { BEYOND_NAME, DATA_PROGRAMS, RUNS_BEHIND, WRAPPERS, wordPattern } from "./programs/table.js";
import { Refused, shown, Unresolvable } from "./refusal.js";
import { type CommandRule, commandName, matchesAllow, matchesDeny } from "./rules.js";

const MAX_DEPTH = 12;
// The number of words examined for one script, counting a word again for each command that may begin at it, plus a
// constant per command: 1 MB is judged within a second.
const MAX_WORK = 400_000;
const WORK_PER_COMMAND = 4;
// These commands only control the flow of the script: an allow list does not need to name them.
const ALWAYS_ALLOWED = new Set(": [ break cd continue exit false return shift test true wait".split(" "));
// Bash evaluates a variable used in arithmetic, including a command in its subscript.
const HIDDEN_SUBSCRIPT = /\[[^[\]]*(?:\$\(|`)/;

/** Judges one script and everything it visibly runs. The methods throw `Refused` or `Unresolvable`. */
export class Judge {
  readonly #denyRules: readonly CommandRule[];
  readonly #deny = new Map<string, CommandRule[]>();
  readonly #allow: readonly CommandRule[] | undefined;
  readonly #work: { words: number };
  readonly #isStrict: boolean;
  #denyOnly: Judge | undefined;

  /** `isStrict`: an allow rule covers nothing beyond its own words. */
  constructor(
    deny: readonly CommandRule[],
    allow: readonly CommandRule[] | undefined,
    { work = { words: 0 }, isStrict = false }: { work?: { words: number }; isStrict?: boolean } = {},
  ) {
    this.#denyRules = deny;
    for (const rule of deny) {
      const name = commandName(rule.words[0] ?? "");
      const rules = this.#deny.get(name);
      if (rules) rules.push(rule);
      else this.#deny.set(name, [rule]);
    }
    this.#allow = allow;
    this.#work = work;
    this.#isStrict = isStrict;
  }

  checkScript(source: string, depth = 0): void {
    for (const command of simpleCommands(source)) this.#checkCommand(command, depth);
  }

  checkVariables(variables: readonly Variable[], depth = 0, before?: string): void {
    for (const { name, value } of variables) {
      if (value !== undefined && HIDDEN_SUBSCRIPT.test(value))
        throw new Unresolvable(`the value of ${name} may be evaluated as a subscript`);
      for (const script of readVariable(name, value, before)) this.checkScript(script, depth + 1);
    }
  }

  /** `isGuess`: it is unknown whether this is a command at all. */
  #checkCommand({ words, assigned }: SimpleCommand, depth: number, isGuess = false): void {
    if (depth > MAX_DEPTH) throw new Unresolvable("commands are nested in commands too deeply");
    this.#count(words);
    const [first] = words;
    this.checkVariables(assigned, depth, first?.text);
    if (first === undefined) return;
    if (first.text === undefined) {
      throw new Unresolvable(`the name of the command ${shown(first.source)} is not known yet`);
    }
    // No program has such a name: it is an option of a word that some shells treat as a keyword, as in "time -f x rm".
    if (first.text.startsWith("-"))
      throw new Unresolvable(`${shown(first.source)} stands where a command is expected`);
    const name = commandName(first.text);
    this.#checkDeny(name, words);
    if (!isGuess) this.#checkUnknownProgram(name, words);
    const rules = this.#checkAllow(name, words);
    if (this.#isStrict) refuseBeyondName(name, words);
    if (NAMES_VARIABLES.has(name)) {
      this.checkVariables(setBy(name, words), depth);
    }
    if (NAMES_VARIABLES.has(name) || name === "[" || name === "test") {
      const hidden = words.find(({ text }) => text !== undefined && HIDDEN_SUBSCRIPT.test(text));
      if (hidden) throw new Unresolvable(`${shown(hidden.source)} may be evaluated as a subscript`);
    }
    try {
      this.#checkInside(words, rules, depth);
    } catch (error) {
      if (!(error instanceof Unresolvable && rules.some((rule) => this.#answersFor(rule)))) throw error;
    }
  }

  #count(words: readonly CommandWord[]): void {
    this.#work.words += words.length + WORK_PER_COMMAND;
    if (this.#work.words > MAX_WORK) throw new Unresolvable("it has too many words to be examined");
  }

  #checkInside(words: readonly CommandWord[], rules: readonly CommandRule[], depth: number): void {
    const { scripts, commands, launched } = inside(words);
    for (const script of scripts) this.checkScript(script, depth + 1);
    for (const command of commands) this.#checkCommand(command, depth + 1);
    for (const launch of launched) this.#checkLaunched(launch, words, rules, depth);
  }

  /** The command may begin at any word: none of them may be the start of a denied one. */
  #checkLaunched(
    { words, phrase }: Launched,
    command: readonly CommandWord[],
    rules: readonly CommandRule[],
    depth: number,
  ): void {
    // An allow rule for "npm" is not one for "npm exec", which runs anything.
    if (
      this.#allow !== undefined &&
      (this.#isStrict || !rules.some((rule) => phrase.every((word) => rule.words.includes(word))))
    ) {
      const start = `${command[0]?.text} ${phrase.join(" ")}`;
      throw new Refused(
        `Refused by the policy: ${shown(start)} runs another command, and the allow list does not name ${shown(start)}.`,
      );
    }
    this.#denyOnly ??= new Judge(this.#denyRules, undefined, { work: this.#work });
    const denyOnly = this.#denyOnly;
    for (const [index, { text, source }] of words.entries()) {
      if (text === undefined)
        throw new Unresolvable(`${shown(source)} may be a command that is not known yet`);
      // The value of an option may be a command, too: "--entrypoint=rm".
      const value = text.startsWith("-") ? text.slice(text.indexOf("=") + 1 || text.length) : text;
      if (value === "") continue;
      if (/[\s;&|]/.test(value)) denyOnly.checkScript(value, depth + 1);
      else {
        const first = { text: value, source: value };
        denyOnly.#checkCommand({ words: [first, ...words.slice(index + 1)], assigned: [] }, depth + 1, true);
      }
    }
  }

  /** An unknown program may run any word it is given: none of them may be the start of a denied command. */
  #checkUnknownProgram(name: string, [first, ...parameters]: readonly CommandWord[]): void {
    if (this.#deny.size === 0 || WRAPPERS.has(name)) return;
    if (takesOnlyData(name, first?.text ?? "", parameters)) return;
    for (const command of possibleCommands(parameters, (word) => this.#deny.has(commandName(word)))) {
      this.#count(command);
      const denied = commandName(command[0]?.text ?? "");
      const rule = this.#deny.get(denied)?.find((entry) => matchesDeny(entry, command) !== "no");
      if (rule === undefined) continue;
      const why = rule.reason === undefined ? "" : ` Reason: ${rule.reason}`;
      throw new Refused(
        `Refused by the policy: ${shown(name)} may run ${shown(denied)}, which the deny rule ${quote(rule.text)} names.${why}`,
        rule.text,
      );
    }
  }

  #checkDeny(name: string, words: readonly CommandWord[]): void {
    for (const rule of this.#deny.get(name) ?? []) {
      const match = matchesDeny(rule, words);
      if (match === "no") continue;
      const command = shown(words.map((word) => word.source).join(" "));
      const how = match === "yes" ? "matches" : "may turn out to match";
      const why = rule.reason === undefined ? "" : ` Reason: ${rule.reason}`;
      throw new Refused(
        `Refused by the policy: ${command} ${how} the deny rule ${quote(rule.text)}.${why}`,
        rule.text,
      );
    }
  }

  /** The allow rules that name the command. Throws if there are such rules and the command needs one. */
  #checkAllow(name: string, words: readonly CommandWord[]): readonly CommandRule[] {
    if (this.#allow === undefined) return [];
    const rules = this.#allow.filter((rule) => matchesAllow(rule, words));
    const text = words[0]?.text ?? "";
    if (rules.length > 0 || (text === name && (ALWAYS_ALLOWED.has(name) || WRAPPERS.get(name)?.transparent)))
      return rules;
    const command = shown(words.map((word) => word.source).join(" "));
    const known = this.#allow.map((rule) => rule.text).join(", ");
    throw new Refused(`Refused by the policy: ${command} is not on the allow list (${known}).`);
  }

  /**
   * Whether an allow rule also covers what the policy cannot read: the rule's own words leave it open, as "sh build.sh"
   * does. A rule of one word ("sh") would bypass every deny rule, so next to deny rules it covers nothing.
   */
  #answersFor(rule: CommandRule): boolean {
    if (this.#isStrict) return false;
    if (this.#denyRules.length > 0 && rule.words.length < 2) return false;
    try {
      this.#checkInside(
        rule.words.map((word) => ({ text: word, source: word })),
        [rule],
        MAX_DEPTH - 1,
      );
      return false;
    } catch (error) {
      return error instanceof Unresolvable;
    }
  }
}

/** The variables that "export A=b" or "read A" sets. "export A" alone exports the current value. */
function setBy(name: string, words: readonly CommandWord[]): Variable[] {
  const operands = words.slice(1).filter(({ text }) => text === undefined || /^[A-Za-z_]/.test(text));
  const variables = operands.map(variable);
  if (/^(read|getopts|unset)$/.test(name)) return variables;
  return variables.filter(({ value }, index) => value !== undefined || operands[index]?.text === undefined);
}

/** A program of the project may do anything; its arguments are data for it. */
const PROJECT_FILE = /^(?!\.\.\/|.*\/\.\.\/)[^/]+\//;
/**
 * The version at the end of a name: `python3.12`. Does not start at a digit inside a number, which would cause repeated
 * attempts.
 */
const VERSION = /(?<![\d.])[-.]?\d[\d.]*$/;

/** Whether no word of a command is a command itself, as far as is known. `word` is the command's name as written. */
function takesOnlyData(name: string, word: string, parameters: readonly CommandWord[]): boolean {
  if (PROJECT_FILE.test(word)) return true;
  if (!DATA_PROGRAMS.has(name.replace(VERSION, "")) && !DATA_PROGRAMS.has(name)) return false;
  const runs = wordPattern(RUNS_BEHIND, name);
  return !parameters.some(({ text }) => text !== undefined && runs?.test(text));
}

/** The parts of a text that may be names of programs or their words. */
const PART = /[^\s"'`;|&<>()[\]{}$,=!:]+/g;

/**
 * The commands that an unknown program may run through its words, limited to names for which `isDenied` is true: each
 * begins at some word, at the value of an option, or within a text. Unknown words are skipped.
 */
function* possibleCommands(
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

/** Throws if an option makes a program do something other than its name and subcommand say. */
function refuseBeyondName(name: string, [, ...parameters]: readonly CommandWord[]): void {
  const options = wordPattern(BEYOND_NAME, name);
  // A name from a wildcard may look like an option, unless something precedes it.
  const found = parameters.find(({ text, source }) =>
    text === undefined ? !/^["']?[\w./]/.test(source) : options?.test(text),
  );
  if (options && found)
    throw new Unresolvable(`${name} may write a file or run code by ${shown(found.source)}`);
}
