import { escapeToLine, spellOut } from "@agent/internal";
import { covers, type PolicyCall, type PolicyOptions } from "./policy.js";
import { exactSubject, isElsewhere, type Rule } from "./rule.js";

/** Something that can be allowed for good after a question about a call. */
export interface AlwaysChoice {
  readonly rule: Rule;
  readonly label: string;
}

export interface AlwaysOptions extends Pick<PolicyOptions, "runsOnly" | "root" | "cwd"> {
  /** The first words of a command that can be allowed with any words behind them. */
  readonly ruleWords: (command: string) => readonly string[] | undefined;
}

const LONGEST_LABEL = 60;

/** The rules that can be offered as "always", the narrowest first. None where the call needs access beyond the rules. */
export function alwaysChoices(call: PolicyCall, options: AlwaysOptions): AlwaysChoice[] {
  // Such access is asked about each time.
  if (call.description.needs.length > 0) return [];
  const { name } = call;
  return [
    { rule: { tool: name, exact: true, pattern: exactSubject(call) }, label: exactLabel(call, options) },
    ...prefixChoice(call, options),
    { rule: { tool: name, exact: false }, label: `every call of ${name}` },
  ];
}

/** Names the directory, since the same command does something else in another one. */
function exactLabel({ args }: PolicyCall, places: AlwaysOptions): string {
  const directory = [args.cwd, args.working_directory].find((value) => typeof value === "string");
  return directory !== undefined && isElsewhere(args, places)
    ? `exactly this call, in ${escapeToLine(spellOut(String(directory))).slice(0, LONGEST_LABEL)}`
    : "exactly this call";
}

/** `npm test *`. None if the rule would not even let this call pass. */
function prefixChoice(call: PolicyCall, options: AlwaysOptions): AlwaysChoice[] {
  const { command } = call.args;
  const words = typeof command === "string" ? options.ruleWords(command) : undefined;
  // In a rule, stars and question marks are wildcards, and a blank is the end of a word.
  if (words === undefined || words.length === 0 || words.some((word) => /[*?\s]|^$/.test(word))) return [];
  const label = `${words.join(" ")} *`;
  const rule: Rule = { tool: call.name, exact: false, pattern: label };
  return label.length <= LONGEST_LABEL && covers(rule, call, options) ? [{ rule, label }] : [];
}
