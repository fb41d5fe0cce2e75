import { canonicalPath, withTimeout } from "@agent/internal";
import {
  type CallTarget,
  type DescribedCall,
  type Match,
  type PermissionLanguage,
  stableJson,
} from "../tools/callDescription.js";
import type { ToolRegistry } from "../tools/registry.js";
import type { ToolCapability } from "../tools/tool.js";
import { type Mode, onlyEdits, onlyReads } from "./mode.js";
import { formatRule, isAbout, isHead, type Rule, type RuleHead } from "./rule.js";
import { matchAddress, matchArgument, matchFile, matchText } from "./targets.js";

/** The rules of a configuration. */
export interface RuleSet {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
}

/** A call as rules see it. */
export interface RuledCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  readonly description: Pick<DescribedCall, "targets" | "needs" | "caution" | "contained">;
}

/** What the rules need to know about tools: a `ToolRegistry`. */
export type RuleTools = Pick<ToolRegistry, "ruleFacts">;

export interface RuleOptions {
  readonly tools: RuleTools;
  /** Where patterns for files begin. */
  readonly root: string;
}

export interface DecideOptions extends RuleOptions {
  readonly rules: RuleSet;
  /** What the user always allows, in this session or this project. */
  readonly granted: readonly Rule[];
  /** Tools whose calls run only after approval, in every mode. */
  readonly confirm: ReadonlySet<string>;
  readonly mode: Mode;
  /** Whether calls inside a sandbox run without a question in every mode: where no one can be asked. Default `false`. */
  readonly allowsContained?: boolean;
  /** Tools that ask in every mode but auto, whatever they say they do: those of a server, which may say anything. */
  readonly isForeign?: (name: string) => boolean;
}

export type Ruling =
  | { readonly type: "allow" }
  | { readonly type: "ask" }
  | { readonly type: "deny"; readonly reason: string };

const ALLOW: Ruling = { type: "allow" };
const ASK: Ruling = { type: "ask" };
const MATCH_LIMIT_MS = 2000;
const MATCHES: ReadonlySet<unknown> = new Set<Match>(["covers", "touches", "maybe", "none"]);

/**
 * Decides about a call, in this order: `deny` rules; plan mode, which denies everything that does more than read; access
 * beyond the rules, which is always asked about; grants; calls that a `deny` or an `ask` rule may concern, which are asked
 * about; `allow` rules and grants together; tools in `confirm` and calls whose tool advises caution; the mode.
 */
export async function decideCall(call: RuledCall, options: DecideOptions): Promise<Ruling> {
  const { rules, granted, mode, confirm } = options;
  const restricting = [...rules.deny, ...rules.ask];
  const find = await matchRules([...rules.allow, ...granted], call, options, restricting);
  for (const rule of rules.deny) {
    const reason = denial(rule, find(rule), call, options);
    if (reason !== undefined) return { type: "deny", reason };
  }
  if (mode === "plan" && !onlyReads(call.capabilities)) {
    return {
      type: "deny",
      reason: "plan mode only reads. Describe the change; the user leaves plan mode to make it.",
    };
  }
  if (call.description.needs.length > 0) return ASK;
  if (isCovered(granted.map(find), call)) return ALLOW;
  if (restricting.some((rule) => mayConcern(find(rule)))) return ASK;
  const readsOnly = !isConfirmed(call.name, confirm, options.tools) && call.description.caution === undefined;
  if (isCovered([...granted, ...rules.allow].map(find), call, readsOnly)) return ALLOW;
  return byMode(call, options);
}

/** Whether a call is covered by these rules: by one for the whole tool or exactly this call, or every target by one of them. */
export async function coversCall(
  rules: readonly Rule[],
  call: RuledCall,
  options: RuleOptions,
): Promise<boolean> {
  const find = await matchRules(rules, call, options);
  return isCovered(rules.map(find), call);
}

/** The text that an exact rule (`=…`) compares: all arguments. A call with nothing but the argument in its title is that. */
export function exactText({ name, args }: Pick<RuledCall, "name" | "args">, tools: RuleTools): string {
  const [key, ...others] = Object.keys(args);
  const titles = tools.ruleFacts(name)?.titleFrom ?? [];
  const only = key !== undefined && others.length === 0 && titles.includes(key) ? args[key] : undefined;
  // A text that looks like the arguments of another call is written as arguments itself.
  return typeof only === "string" && !only.startsWith("{") ? only : stableJson(args);
}

/** How a rule relates to a call: to all of it, or to each of its targets. */
type Found = "whole" | "none" | readonly Match[] | { readonly unknown: Match };

/** Whether a tool, or the one that it replaces, is in `confirm`. */
export function isConfirmed(name: string, confirm: ReadonlySet<string>, tools: RuleTools): boolean {
  if (confirm.size === 0) return false;
  return confirm.has(name) || confirm.has(tools.ruleFacts(name)?.insteadOf ?? name);
}

/** Matches rules for the tool of the call. Rules in `restricting` are also about a tool that stands in for theirs. */
async function matchRules(
  rules: readonly Rule[],
  call: RuledCall,
  options: RuleOptions,
  restricting: readonly Rule[] = [],
): Promise<(rule: Rule) => Found> {
  const { language, insteadOf = call.name } = options.tools.ruleFacts(call.name) ?? {};
  const concerns = (rule: Rule, name: string): boolean => isHead(rule.tool) || isAbout(rule, name);
  const about = [
    ...rules.filter((rule) => concerns(rule, call.name)),
    ...restricting.filter((rule) => concerns(rule, call.name) || concerns(rule, insteadOf)),
  ];
  const { targets } = call.description;
  // One question for all patterns: the language may be in another process.
  const patterns = [
    ...new Set(
      about.flatMap(({ tool, exact, pattern }) =>
        pattern !== undefined && !exact && (tool === "shell.run" || !isHead(tool)) ? [pattern] : [],
      ),
    ),
  ];
  const rows =
    language && targets && patterns.length > 0
      ? await askLanguage(language, patterns, targets)
      : new Map<string, readonly Match[]>();
  // Runtimes without files have no paths to resolve.
  const root = targets?.some(({ type }) => type === "file") ? canonicalPath(options.root) : options.root;
  const found = new Map(about.map((rule) => [rule, matchRule(rule, call, rows, { ...options, root })]));
  return (rule) => found.get(rule) ?? "none";
}

function matchRule(
  rule: Rule,
  call: RuledCall,
  rows: ReadonlyMap<string, readonly Match[]>,
  { tools, root }: RuleOptions,
): Found {
  const { tool, exact, pattern } = rule;
  const { targets } = call.description;
  if (isHead(tool)) return matchHead(tool, pattern, call, rows, root);
  if (pattern === undefined) return "whole";
  if (exact) return exactText(call, tools) === pattern ? "whole" : "none";
  // Only a tool that never describes its calls is matched by its arguments.
  if (targets === undefined) {
    return { unknown: tools.ruleFacts(call.name)?.describes ? "maybe" : matchArgument(pattern, call.args) };
  }
  return rows.get(pattern) ?? targets.map((target) => matchTarget(pattern, target, root));
}

/** The targets that a head with a dot is about, and the capabilities by which a call with unknown targets may have some. */
const HEADS: Readonly<
  Record<RuleHead, { is(target: CallTarget): boolean; capabilities: readonly ToolCapability[] }>
> = {
  "file.read": {
    is: (target) => target.type === "file" && target.access === "read",
    capabilities: ["read"],
  },
  "file.write": {
    is: (target) => target.type === "file" && target.access !== "read",
    capabilities: ["write", "destroy"],
  },
  "net.fetch": { is: ({ type }) => type === "url", capabilities: ["network"] },
  "shell.run": { is: ({ type }) => type === "command", capabilities: ["execute"] },
};

function matchHead(
  head: RuleHead,
  pattern: string | undefined,
  { capabilities, description: { targets } }: RuledCall,
  rows: ReadonlyMap<string, readonly Match[]>,
  root: string,
): Found {
  const { is, capabilities: own } = HEADS[head];
  if (targets === undefined) {
    return { unknown: own.some((one) => capabilities.includes(one)) ? "maybe" : "none" };
  }
  const row = head === "shell.run" && pattern !== undefined ? rows.get(pattern) : undefined;
  return targets.map((target, index) => {
    if (!is(target)) return "none";
    if (pattern === undefined) return target.open ? "touches" : "covers";
    return row?.[index] ?? matchTarget(pattern, target, root);
  });
}

function matchTarget(pattern: string, target: CallTarget, root: string): Match {
  switch (target.type) {
    case "file":
      return matchFile(pattern, target, root);
    case "url":
      return matchAddress(pattern, target);
    case "text":
      return matchText(pattern, target, target.text);
    // Only the tool's own language understands a command.
    case "command":
      return "maybe";
  }
}

/** The matches of all patterns, by the tool's own language. What it fails to say is "maybe". */
async function askLanguage(
  language: PermissionLanguage,
  patterns: readonly string[],
  targets: readonly CallTarget[],
): Promise<Map<string, readonly Match[]>> {
  let answer: unknown;
  try {
    const asked = Promise.resolve(language.match(patterns, targets));
    answer = await withTimeout<unknown>(asked, MATCH_LIMIT_MS, () => undefined);
  } catch {
    answer = undefined;
  }
  const rows: readonly unknown[] = Array.isArray(answer) ? answer : [];
  return new Map(
    patterns.map((pattern, at) => {
      const row: readonly unknown[] = Array.isArray(rows[at]) ? rows[at] : [];
      return [pattern, targets.map((target, index) => readMatch(row[index], target))];
    }),
  );
}

function readMatch(value: unknown, { open }: CallTarget): Match {
  if (!MATCHES.has(value)) return "maybe";
  return value === "covers" && open ? "touches" : (value as Match);
}

/** Why a `deny` rule denies a call, if it does. */
function denial(rule: Rule, found: Found, { description }: RuledCall, { root }: RuleOptions) {
  const text = `the rule ${formatRule(rule)} of the configuration denies it`;
  if (found === "none") return undefined;
  if (found === "whole") return `${text}.`;
  if ("unknown" in found) return denies(found.unknown) ? `${text}.` : undefined;
  const at = found.findIndex(denies);
  const target = description.targets?.[at];
  if (target === undefined) return undefined;
  return `${text}: ${shownTarget(target, root)}.`;
}

const LONGEST_SHOWN = 200;

function shownTarget(target: CallTarget, root: string): string {
  const text =
    target.type === "file"
      ? relativeTo(canonicalPath(root), target.path)
      : target.type === "url"
        ? target.url
        : target.text;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1).toWellFormed()}…` : text;
}

function relativeTo(root: string, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function denies(match: Match): boolean {
  return match === "covers" || match === "touches";
}

function mayConcern(found: Found): boolean {
  if (typeof found === "string") return found === "whole";
  return "unknown" in found ? found.unknown !== "none" : found.some((match) => match !== "none");
}

/** With `readsOnly`, a command that only reads needs no rule. */
function isCovered(found: readonly Found[], { description }: RuledCall, readsOnly = false): boolean {
  if (found.some((one) => one === "whole" || isUnknownCover(one))) return true;
  const { targets } = description;
  if (targets === undefined || targets.length === 0) return false;
  const rows = found.filter((one): one is readonly Match[] => Array.isArray(one));
  const covered = targets.map(
    (target, index) =>
      rows.some((row) => row[index] === "covers") ||
      (readsOnly && target.type === "command" && target.reads === true && target.open !== true),
  );
  // Who may write a file may also read it: an edit reads what it changes.
  return targets.every((target, index) => covered[index] || isReadOfWritten(target, targets, covered));
}

function isUnknownCover(found: Found): boolean {
  return typeof found === "object" && "unknown" in found && found.unknown === "covers";
}

function isReadOfWritten(
  target: CallTarget,
  targets: readonly CallTarget[],
  covered: readonly boolean[],
): boolean {
  if (target.type !== "file" || target.access !== "read" || target.tree || target.open) return false;
  return targets.some(
    (one, index) =>
      covered[index] &&
      one.type === "file" &&
      one.access === "write" &&
      one.path === target.path &&
      one.realPath === target.realPath,
  );
}

function byMode({ name, capabilities, description }: RuledCall, options: DecideOptions): Ruling {
  const { mode, confirm, isForeign, allowsContained = false } = options;
  if (isConfirmed(name, confirm, options.tools) || description.caution !== undefined) return ASK;
  if (mode === "auto") return ALLOW;
  if (isForeign?.(name)) return ASK;
  if (allowsContained && description.contained) return ALLOW;
  if (onlyReads(capabilities)) return ALLOW;
  return mode === "edits" && onlyEdits(capabilities) ? ALLOW : ASK;
}
