import { checkOptions, invalidArgument, quote } from "@agent/core/toolkit";
import { hooked, hookedVariable } from "./hooks.js";
import { inside, isLauncher } from "./programs.js";
import { shown, Unresolvable } from "./refusal.js";
import {
  type CommandWord,
  commandName,
  compileRule,
  matchesAllow,
  matchesDeny,
  type PolicyRule,
  type Rule,
} from "./rules.js";
import { type SimpleCommand, simpleCommands, type Variable } from "./script.js";
import { isTransparent, isWrapper, unwrap, variable } from "./wrappers.js";

const MAX_DEPTH = 12;
// They change nothing but the flow of the script itself: an allow list need not name them.
const ALWAYS_ALLOWED = new Set([
  ":",
  "[",
  "break",
  "cd",
  "continue",
  "exit",
  "false",
  "return",
  "shift",
  "test",
  "true",
  "wait",
]);
// Who sets these decides what a harmless name runs.
const NEVER_SET = /^(ENV|BASH_ENV|BASHOPTS|SHELLOPTS|PS4|PROMPT_COMMAND|BASH_FUNC_.*|LD_.*|DYLD_.*)$/;
const SETS_VARIABLES = new Set(["export", "readonly", "declare", "typeset", "local", "read", "getopts"]);

export interface PolicyOptions {
  readonly deny?: readonly PolicyRule[] | undefined;
  readonly allow?: readonly PolicyRule[] | undefined;
}

/** Whether a command may run, and why not. */
export type Verdict =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      /** One sentence for the model and the user. */
      readonly reason: string;
      /** The rule that refused it, if one did. */
      readonly rule?: string;
    };

/** Rules for commands, compiled and proven by their own examples. */
export interface Policy {
  /**
   * Explains whether a command would run. `env` are variables the caller sets for it. Runs nothing, never throws.
   */
  check(command: string, env?: Readonly<Record<string, string>>): Verdict;
}

class Refused extends Error {
  constructor(
    message: string,
    readonly rule?: string,
  ) {
    super(message);
  }
}

/**
 * Compiles the rules. `undefined` without any. Throws if a list is empty, a rule is not plain words, or one
 * of its examples contradicts it.
 */
export function createPolicy(options: PolicyOptions): Policy | undefined {
  // "No policy" must never be the answer to a mistake.
  checkOptions("createPolicy", options, { deny: checkRules, allow: checkRules });
  const deny = compileRules("deny", options.deny);
  const allow = compileRules("allow", options.allow);
  if (deny === undefined && allow === undefined) return undefined;
  for (const rule of deny ?? []) proveExamples("deny", rule);
  for (const rule of allow ?? []) proveExamples("allow", rule);
  return new RulePolicy(deny ?? [], allow);
}

function checkRules(list: string, rules: unknown): void {
  if (!Array.isArray(rules)) throw invalidArgument(list, "an array of rules", rules);
  if (rules.length === 0) throw new Error(`${list} is empty. Leave it out to have no such rule.`);
}

function compileRules(list: string, rules: readonly PolicyRule[] | undefined): Rule[] | undefined {
  return rules?.map((rule, index) => compileRule(rule, `${list}[${index}]`));
}

function proveExamples(list: "deny" | "allow", rule: Rule): void {
  const policy = list === "deny" ? new RulePolicy([rule], undefined) : new RulePolicy([], [rule]);
  const matches = (example: string): boolean => {
    const verdict = policy.check(example);
    return list === "deny" ? !verdict.allowed && verdict.rule === rule.text : verdict.allowed;
  };
  const wrong = rule.match.find((example) => !matches(example)) ?? rule.notMatch.find(matches);
  if (wrong === undefined) return;
  const verb = rule.match.includes(wrong) ? "does not match" : "matches";
  throw new Error(`${list} rule ${quote(rule.text)} ${verb} its own example ${quote(wrong)}.`);
}

class RulePolicy implements Policy {
  readonly #deny = new Map<string, Rule[]>();
  readonly #allow: readonly Rule[] | undefined;

  constructor(deny: readonly Rule[], allow: readonly Rule[] | undefined) {
    for (const rule of deny) {
      const name = commandName(rule.words[0] ?? "");
      this.#deny.set(name, [...(this.#deny.get(name) ?? []), rule]);
    }
    this.#allow = allow;
  }

  check(command: string, env: Readonly<Record<string, string>> = {}): Verdict {
    try {
      this.#checkVariables(
        Object.entries(env).map(([name, value]) => ({ name, value })),
        0,
      );
      this.#checkScript(command, 0);
      return { allowed: true };
    } catch (error) {
      if (error instanceof Refused) {
        return {
          allowed: false,
          reason: error.message,
          ...(error.rule !== undefined && { rule: error.rule }),
        };
      }
      const cause = error instanceof Unresolvable ? error.message : "it is too deeply nested to be examined";
      return {
        allowed: false,
        reason: `Refused by the policy, because what cannot be known before it runs is refused while rules are set: ${cause}.`,
      };
    }
  }

  #checkScript(source: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new Unresolvable("commands are nested in commands too deeply");
    for (const command of simpleCommands(source)) this.#checkCommand(command, depth);
  }

  #checkCommand({ words, assigned }: SimpleCommand, depth: number): void {
    this.#checkVariables(assigned, depth);
    const [first] = words;
    if (first === undefined) return;
    if (first.text === undefined) {
      throw new Unresolvable(`the name of the command ${shown(first.source)} is not known yet`);
    }
    // No program is called so: it is the option of a word that one shell takes for a keyword, as in "time -f x rm".
    if (first.text.startsWith("-"))
      throw new Unresolvable(`${shown(first.source)} stands where a command is expected`);
    const name = commandName(first.text);
    this.#checkDeny(name, words);
    const isNamed = this.#checkAllow(name, words);
    if (SETS_VARIABLES.has(name)) this.#checkVariables(setBy(name, words), depth);
    try {
      this.#checkInside(name, words, depth);
    } catch (error) {
      // An allow rule that names the command outright takes responsibility for what cannot be seen in it.
      if (!(error instanceof Unresolvable && isNamed)) throw error;
    }
  }

  #checkInside(name: string, words: readonly CommandWord[], depth: number): void {
    if (isWrapper(name)) {
      const wrapped = unwrap(words);
      if (wrapped === undefined) return;
      if ("script" in wrapped) this.#checkScript(wrapped.script, depth + 1);
      else this.#checkNested(wrapped, depth);
      return;
    }
    if (isLauncher(name)) {
      this.#checkLaunched(words.slice(1), depth);
      return;
    }
    const { scripts, commands } = inside(words);
    const hooks = hooked(name, words);
    for (const script of [...scripts, ...hooks.scripts]) this.#checkScript(script, depth + 1);
    for (const launched of hooks.launched) this.#checkLaunched(launched, depth);
    for (const command of commands) this.#checkNested({ words: command, assigned: [] }, depth);
  }

  /** The command may begin at any word: none of them may be the start of a denied one. */
  #checkLaunched(words: readonly CommandWord[], depth: number): void {
    const denyOnly = new RulePolicy([...this.#deny.values()].flat(), undefined);
    for (const [index, { text, source }] of words.entries()) {
      if (text === undefined)
        throw new Unresolvable(`${shown(source)} may be a command that is not known yet`);
      // The value of an option may be a command, too: "--entrypoint=rm".
      const value = text.startsWith("-") ? text.slice(text.indexOf("=") + 1 || text.length) : text;
      if (value === "") continue;
      if (/[\s;&|]/.test(value)) denyOnly.#checkScript(value, depth + 1);
      else {
        const first = { text: value, source: value };
        denyOnly.#checkNested({ words: [first, ...words.slice(index + 1)], assigned: [] }, depth);
      }
    }
  }

  #checkNested(command: SimpleCommand, depth: number): void {
    if (depth > MAX_DEPTH) throw new Unresolvable("commands are nested in commands too deeply");
    this.#checkCommand(command, depth + 1);
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

  /** Whether an allow rule names the command. Throws if there are such rules and the command needs one. */
  #checkAllow(name: string, words: readonly CommandWord[]): boolean {
    if (this.#allow === undefined) return false;
    if (this.#allow.some((rule) => matchesAllow(rule, words))) return true;
    const text = words[0]?.text ?? "";
    if (text === name && (ALWAYS_ALLOWED.has(name) || isTransparent(name))) return false;
    const command = shown(words.map((word) => word.source).join(" "));
    const known = this.#allow.map((rule) => rule.text).join(", ");
    throw new Refused(`Refused by the policy: ${command} is not on the allow list (${known}).`);
  }

  #checkVariables(variables: readonly Variable[], depth: number): void {
    for (const { name, value } of variables) {
      if (NEVER_SET.test(name) || (name === "PATH" && this.#allow !== undefined)) {
        throw new Refused(`Refused by the policy: setting ${name} can change what other commands do.`);
      }
      for (const script of hookedVariable(name, value)) this.#checkScript(script, depth + 1);
    }
  }
}

/** What "export A=b" or "read A" sets. "export A" alone passes on what is set already. */
function setBy(name: string, words: readonly CommandWord[]): Variable[] {
  const variables = words.slice(1).map(variable);
  return /^(read|getopts)$/.test(name)
    ? variables
    : variables.filter(
        ({ value }, index) =>
          value !== undefined ||
          words[index + 1]?.text === undefined ||
          NEVER_SET.test(variable(words[index + 1]).name),
      );
}
