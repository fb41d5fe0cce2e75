import { quote } from "@agent/internal";
import { matchesGlob } from "./glob.js";

/**
 * A rule about calls: `write_file`, a tool with a pattern for its targets (`run_bash(npm test *)`), or exactly one call
 * (`run_bash(=make all)`). Names with a dot apply to every tool: `file.write(src/**)`.
 */
export interface Rule {
  /** The name of a tool, with `*` and `?` as wildcards, or a name with a dot. */
  readonly tool: string;
  readonly exact: boolean;
  /** If absent, every call of the tool. */
  readonly pattern?: string;
}

/**
 * The names that apply to every tool, by the targets of its calls. No tool has such a name. Other names with a dot,
 * such as `net.connect`, are for questions that a running call asks (`PackHost.permit`).
 */
export const RULE_HEADS = ["file.read", "file.write", "net.fetch", "shell.run"] as const;
export type RuleHead = (typeof RULE_HEADS)[number];

const RULE = /^([\w*?.-]+)(?:\((=?)(.*)\))?$/s;

/** Parses a rule. Throws an `Error` that shows the format of a rule. */
export function parseRule(text: string): Rule {
  const [, tool, equals, pattern] = RULE.exec(text.trim()) ?? [];
  if (tool === undefined || pattern?.trim() === "") {
    throw new Error(
      `${quote(text)} is not a rule. Write the name of a tool, or one with a pattern: "run_bash(npm test *)".`,
    );
  }
  const exact = equals === "=";
  if (isHead(tool) && exact) {
    throw new Error(`${quote(text)} is not a rule. Only the rule for one tool can be exact.`);
  }
  return { tool, exact, ...(pattern !== undefined && { pattern }) };
}

export function formatRule({ tool, exact, pattern }: Rule): string {
  return pattern === undefined ? tool : `${tool}(${exact ? "=" : ""}${pattern})`;
}

export function isHead(name: string): name is RuleHead {
  return RULE_HEADS.includes(name as RuleHead);
}

/** Whether a rule names this tool. Rules with a dot name no tool. */
export function isAbout({ tool }: Rule, name: string): boolean {
  return !tool.includes(".") && matchesGlob(tool, name);
}
