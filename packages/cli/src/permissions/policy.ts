import type { DescribedCall, ToolCapability } from "@agent/core";
import { type Mode, onlyEdits, onlyReads } from "./mode.js";
import { formatRule, isAbout, matchesRule, mayHold, namedWords, type Rule, type RulePlaces } from "./rule.js";

/** The rules of the configuration, of this session and of the project. */
export interface RuleSet {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
}

export interface PolicyCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  readonly description: Pick<DescribedCall, "needs" | "caution">;
}

export interface PolicyOptions extends RulePlaces {
  readonly rules: RuleSet;
  /** What the user always allows, in this session or this project. */
  readonly granted: readonly Rule[];
  /** Tools whose calls run only after approval, in every mode. */
  readonly confirm: ReadonlySet<string>;
  readonly mode: Mode;
  /** Whether a command does nothing but run the program that these words name. */
  readonly runsOnly: (words: readonly string[], command: string) => boolean;
  /** Whether a command may turn out to run one that begins with these words. */
  readonly mayRun: (words: readonly string[], command: string) => boolean;
}

export type Ruling =
  | { readonly type: "allow" }
  | { readonly type: "ask" }
  | { readonly type: "deny"; readonly reason: string };

const ALLOW: Ruling = { type: "allow" };
const ASK: Ruling = { type: "ask" };

/**
 * Decides about a call, in this order: `deny` rules; plan mode, which denies everything that does more than read;
 * access beyond the rules, which is always asked about; grants; calls that a `deny` or an `ask` rule may concern, which
 * are asked about; `allow` rules; tools in `confirm` and calls whose tool advises caution; the mode.
 */
export function rule(call: PolicyCall, options: PolicyOptions): Ruling {
  const { rules, granted, mode } = options;
  const denying = rules.deny.find((one) => matchesRule(one, call, options, false));
  if (denying) {
    return { type: "deny", reason: `the rule ${formatRule(denying)} of the configuration denies it.` };
  }
  if (mode === "plan" && !onlyReads(call.capabilities)) {
    return {
      type: "deny",
      reason: "plan mode only reads. Describe the change; the person leaves plan mode to make it.",
    };
  }
  if (call.description.needs.length > 0) return ASK;
  const holds = (one: Rule): boolean => covers(one, call, options);
  if (granted.some(holds)) return ALLOW;
  if ([...rules.deny, ...rules.ask].some((one) => mayConcern(one, call, options))) return ASK;
  if (rules.allow.some(holds)) return ALLOW;
  return byMode(call, options);
}

/** Whether a rule that allows lets a call pass. */
export function covers(
  one: Rule,
  call: PolicyCall,
  options: Pick<PolicyOptions, "runsOnly" | "root" | "cwd">,
): boolean {
  return matchesRule(one, call, options, true) && staysWithin(one, call, options);
}

/**
 * Whether a command that a rule allows by its first words does no more than these words say. `npm test *` shows a test run,
 * and so allows no `npm test --script-shell=./x`.
 */
function staysWithin(
  one: Rule,
  { args }: PolicyCall,
  { runsOnly }: Pick<PolicyOptions, "runsOnly">,
): boolean {
  const words = namedWords(one);
  return typeof args.command !== "string" || words.length === 0 || runsOnly(words, args.command);
}

/** Whether a rule that denies or asks is about a call, or may turn out to be. */
function mayConcern(one: Rule, call: PolicyCall, options: PolicyOptions): boolean {
  return (
    matchesRule(one, call, options, false) || mayHold(one, call, options) || mayLaunch(one, call, options)
  );
}

/** Whether a command may run the one that a rule names, although its words do not say so: by an option or a variable. */
function mayLaunch(one: Rule, { name, args }: PolicyCall, { mayRun }: PolicyOptions): boolean {
  const words = namedWords(one);
  if (typeof args.command !== "string" || words.length === 0 || !isAbout(one, name)) return false;
  return mayRun(words, args.command);
}

function byMode({ name, capabilities, description }: PolicyCall, { mode, confirm }: PolicyOptions): Ruling {
  if (confirm.has(name) || description.caution !== undefined) return ASK;
  if (mode === "auto" || onlyReads(capabilities)) return ALLOW;
  return mode === "edits" && onlyEdits(capabilities) ? ALLOW : ASK;
}
