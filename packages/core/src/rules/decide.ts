import { canonicalPath, shorten, withTimeout } from "@agent/internal";
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

/** A call, as far as rules need it. */
export interface RuledCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  readonly description: Pick<DescribedCall, "targets" | "needs" | "caution" | "contained">;
}

/** The facts about tools that rules need: a `ToolRegistry`. */
export type RuleTools = Pick<ToolRegistry, "ruleFacts">;

export interface RuleOptions {
  readonly tools: RuleTools;
  /** The directory that relative file patterns start from. */
  readonly root: string;
}

export interface DecideOptions extends RuleOptions {
  readonly rules: RuleSet;
  /** The user's permanent approvals, for this session or this project. */
  readonly granted: readonly Rule[];
  /** Tools whose calls need approval in every mode. */
  readonly confirm: ReadonlySet<string>;
  readonly mode: Mode;
  /**
   * Whether sandboxed calls run without a question in every mode, for programs that cannot ask the user. Default
   * `false`.
   */
  readonly allowsContained?: boolean;
  /**
   * Tools that ask in every mode but auto, whatever capabilities they declare: those of a server, whose declarations
   * prove nothing.
   */
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
 * Decides about a call, in this order: `deny` rules; plan mode, which denies everything but reads; access beyond the
 * access rules, which always asks; grants; calls that a `deny` or `ask` rule may match, which ask; `allow` rules
 * together with grants; tools in `confirm` and calls for which the tool advises caution; the mode.
 */
export async function decideCall(call: RuledCall, options: DecideOptions): Promise<Ruling> {
  const { rules, granted, mode, confirm, isForeign } = options;
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
  const { caution } = call.description;
  const readsOnly =
    caution === undefined && !isConfirmed(call.name, confirm, options.tools) && !isForeign?.(call.name);
  if (isCovered([...granted, ...rules.allow].map(find), call, readsOnly)) return ALLOW;
  return byMode(call, options);
}

/**
 * Whether these rules cover a call: one covers the whole tool or exactly this call, or every target is covered by some
 * rule.
 */
export async function coversCall(
  rules: readonly Rule[],
  call: RuledCall,
  options: RuleOptions,
): Promise<boolean> {
  const find = await matchRules(rules, call, options);
  return isCovered(rules.map(find), call);
}

/**
 * The text that an exact rule (`=…`) is compared with: all arguments, or only the title argument if there is no other.
 */
export function exactText({ name, args }: Pick<RuledCall, "name" | "args">, tools: RuleTools): string {
  const [key, ...others] = Object.keys(args);
  const titles = tools.ruleFacts(name)?.titleFrom ?? [];
  const only = key !== undefined && others.length === 0 && titles.includes(key) ? args[key] : undefined;
  // A text that looks like the arguments of another call is written as arguments as well.
  return typeof only === "string" && !only.startsWith("{") ? only : stableJson(args);
}

/** How a rule relates to a call: to the whole call, or to each of its targets. */
type Found = "whole" | "none" | readonly Match[] | { readonly unknown: Match };

/** Whether `confirm` contains a tool, or the tool that it replaces. */
export function isConfirmed(name: string, confirm: ReadonlySet<string>, tools: RuleTools): boolean {
  if (confirm.size === 0) return false;
  return confirm.has(name) || confirm.has(tools.ruleFacts(name)?.insteadOf ?? name);
}

/** Matches the rules for the tool of the call. Rules in `restricting` also apply to a tool that replaces theirs. */
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
  // Asks about all patterns together: the matcher may be in another process.
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
  // Runtimes without a file system have no paths to resolve.
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

/**
 * The targets that a rule such as `file.write` applies to, and the capabilities by which a call with unknown targets
 * may have some.
 */
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
    // Only the tool's own matcher understands a command.
    case "command":
      return "maybe";
  }
}

/** The matches of all patterns, by the tool's own matcher. Missing answers count as "maybe". */
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

/** Why a `deny` rule denies a call; `undefined` if none does. */
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
  return shorten(text.toWellFormed(), LONGEST_SHOWN);
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
  // Write access includes read access: an edit reads the file it changes.
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
