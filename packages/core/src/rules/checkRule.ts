import { didYouMean, errorMessage, quote, withTimeout } from "@agent/internal";
import type { ToolInfo, ToolRegistry } from "../tools/registry.js";
import type { RuleTools } from "./decide.js";
import { formatRule, isAbout, isHead, RULE_HEADS, type Rule } from "./rule.js";
import { findAddressProblem, findFileProblem, parseArgumentPattern } from "./targets.js";

const CHECK_LIMIT_MS = 2000;
/** A rule for connections of sandboxed commands: it does not decide about calls. */
const ASKED_WHILE_RUNNING = "net.connect";

/** The problem with a rule's pattern for this tool, if any, as `a sentence without its end`. */
async function findProblem(
  { pattern, exact }: Rule,
  tool: string,
  tools: RuleTools,
): Promise<string | undefined> {
  const facts = tools.ruleFacts(tool);
  if (pattern === undefined || exact || !facts) return undefined;
  if (facts.language) {
    const { language } = facts;
    const late = (): string => "the tool did not say in time whether it understands the pattern";
    try {
      return await withTimeout(Promise.resolve(language.check(pattern)), CHECK_LIMIT_MS, late);
    } catch (error) {
      return `the tool could not check the pattern: ${errorMessage(error)}`;
    }
  }
  if (facts.describes) return undefined;
  const argument = parseArgumentPattern(pattern);
  if (!argument) {
    const example = facts.titleFrom[0] ?? facts.arguments[0] ?? "argument";
    return `${tool} does not say what its calls act on. Write the argument that decides: "${tool}(${example}: …)"`;
  }
  const hint = didYouMean(argument.name, facts.arguments);
  return facts.arguments.includes(argument.name)
    ? undefined
    : `${tool} has no argument ${quote(argument.name)}. ${hint}`.replace(/[.\s]+$/, "");
}

/** The problem with a rule's pattern for all tools registered so far, if any. */
export async function findRuleProblem(rule: Rule, tools: ToolRegistry): Promise<string | undefined> {
  const { tool, pattern } = rule;
  if (/^(file|net|shell)\./.test(tool) && !isHead(tool) && tool !== ASKED_WHILE_RUNNING) {
    return `there is no ${quote(tool)}. The rules for every tool are ${RULE_HEADS.map((head) => `${head}(…)`).join(", ")}`;
  }
  if (pattern === undefined) return undefined;
  if (tool === "file.read" || tool === "file.write") return findFileProblem(pattern);
  if (tool === "net.fetch") return findAddressProblem(pattern);
  const names = tools.getToolNames();
  // A rule for many tools need not make sense for each of them.
  const [first] = isHead(tool)
    ? names.filter(
        (name) => tools.ruleFacts(name)?.language && tools.getCapabilities(name).includes("execute"),
      )
    : names.filter((name) => name === tool);
  return first === undefined ? undefined : await findProblem(rule, first, tools);
}

/**
 * Reports rules whose pattern a later tool does not understand. Until the tool is registered, and if the pattern is
 * invalid, the rule is treated as one that may match the tool's calls.
 */
export function watchRules(
  rules: readonly Rule[],
  tools: ToolRegistry,
  onProblem: (message: string) => void,
): () => void {
  return tools.onRegister(({ name }: ToolInfo) => {
    for (const rule of rules.filter((one) => one.tool === name && isAbout(one, name))) {
      // The tool can be used and looked up right after this.
      queueMicrotask(() => {
        void findProblem(rule, name, tools).then((problem) => {
          if (problem !== undefined) onProblem(`the rule ${formatRule(rule)} cannot be used: ${problem}.`);
        });
      });
    }
  });
}
