import { checkOptions, invalidArgument, quote } from "@agent/core/toolkit";
import { Judge } from "./judge.js";
import { NotInGrammar, Refused, Unresolvable } from "./refusal.js";
import { type CommandRule, compileRule, type PolicyRule } from "./rules.js";

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

/** Rules for commands, compiled and checked against their own examples. */
export interface Policy {
  /**
   * Explains whether a command would run. `env` are variables the caller sets for it. The values of `"$1"` and `"$@"`
   * are never examined: if they matter, the command is refused. Runs nothing, never throws.
   */
  check(command: string, env?: Readonly<Record<string, string>>): Verdict;
}

/**
 * Compiles the rules. `undefined` if there are none. Throws if a list is empty, a rule does not consist of plain words,
 * or one of its examples contradicts it.
 */
export function createPolicy(options: PolicyOptions): Policy | undefined {
  // A mistyped option must be an error: it must never disable the policy.
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

function compileRules(list: string, rules: readonly PolicyRule[] | undefined): CommandRule[] | undefined {
  return rules?.map((rule, index) => compileRule(rule, `${list}[${index}]`));
}

function proveExamples(list: "deny" | "allow", rule: CommandRule): void {
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
  constructor(
    readonly deny: readonly CommandRule[],
    readonly allow: readonly CommandRule[] | undefined,
  ) {}

  check(command: string, env: Readonly<Record<string, string>> = {}): Verdict {
    try {
      const judge = new Judge(this.deny, this.allow);
      judge.checkVariables(Object.entries(env).map(([name, value]) => ({ name, value })));
      judge.checkScript(command);
      return { allowed: true };
    } catch (error) {
      if (!(error instanceof Refused)) return { allowed: false, reason: unknownReason(error) };
      const rule = error.rule === undefined ? {} : { rule: error.rule };
      return { allowed: false, reason: error.message, ...rule };
    }
  }
}

function unknownReason(error: unknown): string {
  if (error instanceof NotInGrammar)
    return `Refused by the policy, which judges only scripts that all shells read alike: ${error.message}.`;
  const cause = error instanceof Unresolvable ? error.message : "it is too deeply nested to be examined";
  return `Refused by the policy, because what cannot be known before it runs is refused while rules are set: ${cause}.`;
}
