import type { AlwaysOffer, CallTarget } from "@agent/core";
import { quoteForShell } from "@agent/core/toolkit";
import { Judge } from "./judge.js";
import { type CommandWord, type SimpleCommand, simpleCommands } from "./parser.js";
import { inside, isInterpreter } from "./programs/inside.js";
import { onlyReads, type ReadingPlace } from "./programs/readers.js";
import {
  NEED_SUBCOMMAND,
  OPEN_ENDED,
  OPEN_ENDED_SUBCOMMANDS,
  PACKAGE_RUNNERS,
  wordPattern,
  wordSet,
} from "./programs/table.js";
import { commandName } from "./rules.js";

type CommandTarget = Extract<CallTarget, { type: "command" }>;

const MAX_DEPTH = 12;
const MAX_TARGETS = 200;
const MAX_TEXT = 64 * 1024;
const LONGEST_OFFER = 60;
const MAX_OFFERED = 3;
const ANY_ARGUMENT = "x";
// In a rule these characters are wildcards or end it, and a blank separates words.
const NOT_IN_RULES = /[*?\s"'`\\$[\]{}()<>|&;#!~]|^$/;
const SUBCOMMAND = /^[a-z][\w:-]*$/;
const SCRIPT_NAME = /^[\w:.-]+$/;
// Commands that affect the commands after them: their directory, their variables, how the shell parses them.
const CHANGES_LATER = wordSet(
  "cd pushd popd export readonly declare typeset local read getopts unset integer float set umask ulimit trap exec eval shift",
);

/** Why a script cannot be described: it is outside the grammar, or too long. */
class Undescribed extends Error {}

/**
 * Every command of a script, including those inside wrappers and `sh -c`. Commands that only read what may be read in
 * `place` are marked. `undefined` for a script with too many. A script outside the grammar of the policy is a single
 * open command.
 */
export function describeCommands(script: string, place?: ReadingPlace): CommandTarget[] | undefined {
  const found: CommandTarget[] = [];
  try {
    collect(script, { depth: 0, place }, found);
  } catch (error) {
    if (error instanceof Undescribed || script.length > MAX_TEXT) return undefined;
    return [{ type: "command", text: script, open: true }];
  }
  // A script that contains only comments.
  return found.length > 0 ? found : undefined;
}

interface Within {
  readonly depth: number;
  readonly place: ReadingPlace | undefined;
}

function collect(script: string, within: Within, found: CommandTarget[]): void {
  if (within.depth > MAX_DEPTH) throw new Undescribed();
  for (const command of simpleCommands(script)) add(command, within, found);
}

function add(command: SimpleCommand, { depth, place }: Within, found: CommandTarget[]): void {
  if (depth > MAX_DEPTH || found.length >= MAX_TARGETS) throw new Undescribed();
  if (command.words.length + command.assigned.length === 0) return;
  const text = commandText(command);
  const isOpen = isOpenCommand(command, text);
  const reads = !isOpen && place !== undefined && onlyReads(command.words, place);
  found.push({ type: "command", text, ...(isOpen && { open: true }), ...(reads && { reads }) });
  if (found.reduce((sum, one) => sum + one.text.length, 0) > MAX_TEXT) throw new Undescribed();
  let within: ReturnType<typeof inside>;
  try {
    within = inside(command.words);
  } catch {
    return; // The command is open: what it runs is unknown.
  }
  for (const script of within.scripts) {
    try {
      collect(script, { depth: depth + 1, place }, found);
    } catch (error) {
      if (error instanceof Undescribed) throw error;
      found.push({ type: "command", text: script, open: true });
    }
  }
  for (const inner of within.commands) add(inner, { depth: depth + 1, place }, found);
}

/** Whether a command may do more than its words show. */
function isOpenCommand({ words, assigned, redirected }: SimpleCommand, text: string): boolean {
  const [first] = words;
  if (first?.text === undefined || assigned.length > 0 || redirected) return true;
  if (words.some((word) => word.text === undefined && /[$`]/.test(word.source))) return true;
  if (CHANGES_LATER.has(commandName(first.text))) return true;
  return !isClosed(words, text);
}

function isClosed(words: readonly CommandWord[], text: string): boolean {
  const count = packageWords(words);
  if (count === undefined) return runsOnlyItself(words[0]?.text ?? "", text);
  // The arguments of a package are judged as if the package were a program.
  const name = (words[count - 1]?.text ?? "").replace(/(?<=.)@[^@/]*$/, "");
  const program = commandName(name);
  const command = { words: [{ text: program, source: program }, ...words.slice(count)], assigned: [] };
  return runsOnlyItself(program, commandText(command));
}

/** Whether a command runs only its own program, which does what its name says. */
function runsOnlyItself(program: string, text: string): boolean {
  try {
    const own = { text: program, words: [program], match: [], notMatch: [] };
    new Judge([], [own], { isStrict: true }).checkScript(text);
    return true;
  } catch {
    return false;
  }
}

/** The words that a rule must contain to cover the command: the package name after `npx`. */
export function namedWords(words: readonly CommandWord[]): number {
  return packageWords(words) ?? 1;
}

/** A command that the policy parses the same way as this one. */
function commandText({ words, assigned }: SimpleCommand): string {
  const variables = assigned.map(
    ({ name, value }) => `${name}=${value === undefined ? '"$_"' : quoted(value)}`,
  );
  return [...variables, ...words.map(wordText)].join(" ");
}

function wordText({ text, source }: CommandWord): string {
  if (text !== undefined) return quoted(text);
  // Words that a program adds, such as those from the input of xargs, have no source.
  return /^[^()\s]*[$*?[~]/.test(source) || /^"[^"]*"$/.test(source) ? source : '"$_"';
}

function quoted(text: string): string {
  return /^[\w./,+%@^:=-]+$/.test(text) ? text : quoteForShell(text);
}

/** The command preceded by these variables. */
export function withVariables(target: CommandTarget, env: Readonly<Record<string, string>>): CommandTarget {
  const assigned = Object.entries(env).flatMap(([name, value]) =>
    /^[A-Za-z_]\w*$/.test(name) ? [`${name}=${quoted(value)}`] : [],
  );
  const { reads: _, ...rest } = target;
  return { ...rest, text: [...assigned, target.text].join(" "), open: true };
}

/** One rule that covers all commands of a script that do more than read, if there is a useful one. */
export function offerRules(targets: readonly CommandTarget[]): AlwaysOffer[] {
  const others = targets.filter(({ reads }) => !reads);
  if (others.length === 0 || others.some(({ open, cwd }) => open || cwd !== undefined)) return [];
  const rules = others.map(({ text }) => ruleFor(text));
  const patterns = [...new Set(rules)];
  const label = patterns.join(" and ");
  if (rules.includes(undefined) || patterns.length > MAX_OFFERED || label.length > LONGEST_OFFER) return [];
  return [{ pattern: patterns.join(" && "), label }];
}

/** `npm test *` for `npm test -- --watch`; `undefined` if a rule for these words would allow anything. */
function ruleFor(text: string): string | undefined {
  const [command] = simpleCommands(text);
  const words = command?.words ?? [];
  const named = packageWords(words) ?? ownWords(words);
  const texts = words.slice(0, named).map((word) => word.text ?? "");
  if (texts.some((word) => NOT_IN_RULES.test(word))) return undefined;
  if (packageWords(words) === undefined && isOpenEnded(texts)) return undefined;
  const example = [...texts, ANY_ARGUMENT].map((word) => ({ text: word, source: word }));
  return isClosed(example, commandText({ words: example, assigned: [] }))
    ? `${texts.join(" ")} *`
    : undefined;
}

/** The program, its subcommand, and the script that `npm run` names. */
function ownWords(words: readonly CommandWord[]): number {
  const [program, second, third] = words.map(({ text }) => text ?? "");
  if (second === undefined || !SUBCOMMAND.test(second)) return 1;
  const isScript = /^(npm|pnpm|yarn|bun)$/.test(program ?? "") && /^run(-script)?$/.test(second);
  return isScript && SCRIPT_NAME.test(third ?? "") ? 3 : 2;
}

/** Whether a program, or its subcommand, does whatever its further arguments tell it. */
function isOpenEnded([first = "", subcommand]: readonly string[]): boolean {
  const program = commandName(first);
  if (OPEN_ENDED.has(program) || isInterpreter(program)) return true;
  if (subcommand === undefined) return NEED_SUBCOMMAND.has(program);
  return wordPattern(OPEN_ENDED_SUBCOMMANDS, program)?.test(subcommand) === true;
}

/** Options of a package runner that change neither what runs nor where. */
const HARMLESS = /^(-y|--yes|--no|--no-install|--)$/;
const PACKAGE = /^(@[\w.-]+\/)?[A-Za-z0-9][\w.-]*(@[\w.^~-]+)?$/;

/**
 * The number of words up to the package's name, in `npx -y vitest run`: 3. `undefined` for another command, and where
 * another option or an unusual name makes it run something else.
 */
function packageWords(words: readonly CommandWord[]): number | undefined {
  const subcommands = PACKAGE_RUNNERS.get(words[0]?.text ?? "");
  if (!subcommands) return undefined;
  if (subcommands.length > 0 && !subcommands.includes(words[1]?.text ?? "")) return undefined;
  let at = subcommands.length > 0 ? 2 : 1;
  while (HARMLESS.test(words[at]?.text ?? "")) at++;
  const name = words[at]?.text ?? "";
  return PACKAGE.test(name) && commandName(name) !== "" ? at + 1 : undefined;
}
