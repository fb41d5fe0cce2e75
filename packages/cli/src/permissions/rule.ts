import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isRecord, quote } from "@agent/core/toolkit";
import { canonicalPath } from "@agent/internal";
import { matchesGlob, mayMatchLonger } from "./glob.js";
import { simpleCommands } from "./shellWords.js";

/** A call as rules see it. */
export interface RuledCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Where relative paths begin: those of a call in the working directory, those of a rule in the project. */
export interface RulePlaces {
  readonly cwd: string;
  readonly root: string;
}

/**
 * A rule about calls: a tool, or a tool with a pattern for its command or path. `run_bash(npm test *)` matches commands
 * that start with these words, `write_file(src/**)` paths below the project, `web_*` tools by name, and
 * `run_bash(=make all)` exactly this command.
 */
export interface Rule {
  readonly tool: string;
  readonly exact: boolean;
  /** Absent: every call of the tool. */
  readonly pattern?: string;
}

const RULE = /^([\w*?.-]+)(?:\((=?)(.*)\))?$/s;
const PATHS = ["path", "paths", "source", "destination", "file_path", "file"];
const SUBJECTS = ["url", "uri", "query", "name", "pattern"];
// Arguments that do not change what a command does. A call with any other argument, such as its environment, matches no
// rule that allows.
const COMMAND_ARGUMENTS = new Set(["command", "timeout", "cwd", "working_directory", "background"]);

// The characters that are compared to find a command behind any word of a script. A longer script is asked about.
const MOST_COMPARED = 10_000_000;

/** Parses a rule of the config. Throws an `Error` that shows the form of a rule. */
export function parseRule(text: string): Rule {
  const [, tool, equals, pattern] = RULE.exec(text.trim()) ?? [];
  if (tool === undefined || pattern === "") {
    throw new Error(
      `${quote(text)} is no rule. Write a tool's name, or one with a pattern: "run_bash(npm test *)".`,
    );
  }
  return { tool, exact: equals === "=", ...(pattern !== undefined && { pattern }) };
}

export function formatRule({ tool, exact, pattern }: Rule): string {
  return pattern === undefined ? tool : `${tool}(${exact ? "=" : ""}${pattern})`;
}

/** Whether a rule is about calls of this tool. */
export function isAbout(rule: Rule, tool: string): boolean {
  return matchesGlob(rule.tool, tool);
}

/** The words of a rule before its first wildcard. Empty for an exact rule, which leaves nothing open. */
export function namedWords({ exact, pattern = "" }: Rule): string[] {
  const words = exact ? [] : pattern.split(" ").filter((word) => word !== "");
  const open = words.findIndex((word) => /[*?]/.test(word));
  return open === -1 ? words : words.slice(0, open);
}

/**
 * Whether a rule matches a call. With `every`, for rules that allow, the rule must match each command of a script and
 * each path. Without it, for rules that ask or deny, one of them is enough.
 */
export function matchesRule(rule: Rule, call: RuledCall, places: RulePlaces, every: boolean): boolean {
  if (!matchesGlob(rule.tool, call.name)) return false;
  if (rule.pattern === undefined) return true;
  const { pattern } = rule;
  if (rule.exact) return exactSubject(call) === pattern;
  const { command } = call.args;
  const paths = pathsOf(call);
  const subjects = SUBJECTS.map((key) => call.args[key]).filter((value) => typeof value === "string");
  const isCommand = (): boolean =>
    typeof command === "string" && matchesCommand(pattern, command, call, places, every);
  const isPath = (path: string): boolean => matchesPath(pattern, path, places);
  const isSubject = (text: string): boolean => matchesGlob(pattern, text);
  const whole = JSON.stringify(call.args);
  if (every) {
    if (typeof command === "string") return isCommand();
    return paths.length > 0 ? paths.every(isPath) : isSubject(subjects[0] ?? whole);
  }
  // A call may have arguments that the tool ignores beside the one it uses, so each of them counts.
  if (isCommand() || paths.some(isPath) || subjects.some(isSubject)) return true;
  return typeof command !== "string" && paths.length + subjects.length === 0 && isSubject(whole);
}

/** The text that an exact rule (`=…`) compares: all arguments that make a difference, in a fixed order. */
export function exactSubject({ args }: RuledCall): string {
  const { command, timeout: _, ...rest } = args;
  // A command that looks like the arguments of another call is written as arguments itself.
  if (typeof command === "string" && !command.startsWith("{") && Object.keys(rest).length === 0)
    return command;
  return stable(command === undefined ? rest : { command, ...rest });
}

function matchesCommand(
  pattern: string,
  command: string,
  { args }: RuledCall,
  places: RulePlaces,
  every: boolean,
): boolean {
  const commands = simpleCommands(command);
  const test = (words: readonly string[]): boolean => matchesWords(pattern, words);
  if (every) {
    const isPlain = Object.keys(args).every((key) => COMMAND_ARGUMENTS.has(key));
    return isPlain && !isElsewhere(args, places) && commands?.every(test) === true;
  }
  // Search a script that cannot be parsed as text: asking or denying too often is the safe error.
  if (!commands) return mentions(pattern, command);
  return commands.some((words) => [words, plainCommand(words), words.join(" ").split(" ")].some(test));
}

/**
 * Whether a command runs in another directory than the agent's own. Its configuration, makefile or package there may run
 * anything, so a pattern does not allow it; only a rule for the whole tool or for exactly this call does.
 */
export function isElsewhere(args: RuledCall["args"], { cwd }: RulePlaces): boolean {
  const given = [args.cwd, args.working_directory].filter((value) => value !== undefined);
  return given.some(
    (value) => typeof value !== "string" || canonicalPath(resolve(cwd, value)) !== canonicalPath(cwd),
  );
}

/**
 * Whether a rule that denies or asks may cover a call that it does not match: the command is passed to another program
 * (`env rm x`, `sh -c "rm x"`), the script cannot be parsed, or the call is about a directory that contains something
 * the rule is about.
 */
export function mayHold(rule: Rule, call: RuledCall, places: RulePlaces): boolean {
  const { pattern } = rule;
  if (!matchesGlob(rule.tool, call.name) || pattern === undefined || rule.exact) return false;
  return mayRun(pattern, call) || mayReach(rule, call, places);
}

/**
 * Whether a call is about a directory with something in it that a rule may be about: who removes, moves or searches the
 * directory does so with that too.
 */
function mayReach(rule: Rule, call: RuledCall, { cwd, root }: RulePlaces): boolean {
  const { pattern } = rule;
  if (!matchesGlob(rule.tool, call.name) || pattern === undefined || rule.exact) return false;
  return pathsOf(call).some((path) => {
    const real = canonicalPath(resolve(cwd, path));
    if (statSync(real, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
    const below = real === "/" ? "/" : `${real}/`;
    if (pattern.startsWith("/")) return mayMatchLonger(pattern, below, "/");
    const base = `${canonicalPath(root)}/`;
    if (base.startsWith(below)) return true;
    return below.startsWith(base) && mayMatchLonger(relativePattern(pattern), below.slice(base.length), "/");
  });
}

function mayRun(pattern: string, { args }: RuledCall): boolean {
  const { command } = args;
  if (typeof command !== "string") return false;
  const commands = simpleCommands(command);
  if (!commands || !Object.keys(args).every((key) => COMMAND_ARGUMENTS.has(key))) return true;
  const words = commands.reduce((sum, { length }) => sum + length, command.split(/\s/).length);
  if (words * command.length > MOST_COMPARED) return true;
  return commands.some((words) => {
    if (EXPANDS.test(plainCommand(words)[0] ?? "")) return true;
    const texts = words.filter((word) => /\s/.test(word)).map((text) => text.split(/[\s;|&(){}"'`]+/));
    return [words, ...texts].some((parts) =>
      parts.some((_, index) => matchesWords(pattern, plainCommand(parts.slice(index)))),
    );
  });
}

/** Characters that the shell may expand into another word. */
const EXPANDS = /[*?[{~]/;
const ASSIGNMENT = /^\w+\+?=/;

/** A command without variables in front of it, and without the directory of its program. */
function plainCommand(words: readonly string[]): string[] {
  const start = words.findIndex((word) => !ASSIGNMENT.test(word));
  const [program = "", ...rest] = start === -1 ? [] : words.slice(start);
  return [program.slice(program.lastIndexOf("/") + 1), ...rest];
}

function mentions(pattern: string, text: string): boolean {
  return matchesGlob(`*${pattern.replace(/ \*$/, "")}*`, text);
}

/**
 * `npm test *` also means `npm test` alone. A blank of the pattern is the end of a word: `"./run test" x` runs a program
 * with a blank in its name, and is not `./run test *`.
 */
function matchesWords(pattern: string, words: readonly string[]): boolean {
  const text = words.map((word) => word.replaceAll(" ", "\0")).join(" ");
  return matchesGlob(pattern, text) || (pattern.endsWith(" *") && text === pattern.slice(0, -2));
}

/** A relative pattern is about paths below the project; links are followed first, so that none leads out. */
function matchesPath(pattern: string, path: string, { cwd, root }: RulePlaces): boolean {
  const real = canonicalPath(resolve(cwd, path));
  const base = canonicalPath(root);
  if (pattern.startsWith("/")) return matchesGlob(pattern, real, "/");
  return real === base
    ? matchesGlob(pattern, ".", "/")
    : real.startsWith(`${base}/`) && matchesGlob(relativePattern(pattern), real.slice(base.length + 1), "/");
}

function relativePattern(pattern: string): string {
  return pattern.replace(/^\.\//, "");
}

function pathsOf({ args }: RuledCall): string[] {
  return PATHS.flatMap((key) => texts(args[key]));
}

function texts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${stable(value[key])}`);
  return `{${entries.join(",")}}`;
}
