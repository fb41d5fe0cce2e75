import { canonicalPath, nodePath } from "@agent/internal";
import type { CallTarget, DescribedCall } from "../tools/callDescription.js";
import { coversCall, exactText, type RuledCall, type RuleOptions } from "./decide.js";
import { formatRule, parseRule } from "./rule.js";

/** A rule that a user can choose instead of allowing one call. */
export interface RuleOffer {
  /** For `{ always: rule }`: `run_bash(npm test *)`. */
  readonly rule: string;
  readonly label: string;
}

interface OfferedCall extends RuledCall {
  readonly description: Pick<DescribedCall, "targets" | "needs" | "caution" | "always">;
}

/**
 * The rules that can be offered as "always", narrowest first: exactly this call, the tool's suggestions, the directory
 * of the files it writes, the whole tool. Each of them covers the call. Empty if the call needs access beyond the
 * rules, which is asked about each time.
 */
export async function offerRules(call: OfferedCall, options: RuleOptions): Promise<RuleOffer[]> {
  const { name, description } = call;
  if (description.needs.length > 0) return [];
  const suggested = (description.always ?? []).map(({ pattern, label }) => ({
    rule: `${name}(${pattern})`,
    label,
  }));
  const between: RuleOffer[] = [];
  for (const offer of [...suggested, ...directoryOffers(description.targets ?? [], options.root)]) {
    if (await isUseful(offer, call, options)) between.push(offer);
  }
  const exact = formatRule({ tool: name, exact: true, pattern: exactText(call, options.tools) });
  return [
    { rule: exact, label: `exactly this call${elsewhere(description.targets)}` },
    ...between,
    { rule: name, label: `every call of ${name}` },
  ];
}

/** Names the working directory of a command, since the same command may do something else in another one. */
function elsewhere(targets: readonly CallTarget[] | undefined): string {
  const found = targets?.find((target) => target.type === "command" && target.cwd !== undefined);
  return found?.type === "command" ? `, in ${found.cwd}` : "";
}

/** Offers `edits in lib/**` for a call that writes files in one directory of the project. */
function directoryOffers(targets: readonly CallTarget[], root: string): RuleOffer[] {
  const written = targets.flatMap((target) =>
    target.type === "file" && target.access === "write"
      ? [nodePath.dirname(target.realPath ?? target.path)]
      : [],
  );
  const [directory, ...others] = new Set(written);
  if (directory === undefined || others.length > 0) return [];
  const base = canonicalPath(root);
  if (!directory.startsWith(`${base}/`)) return [];
  const below = directory.slice(base.length + 1);
  // These characters are wildcards in a pattern, and a bracket looks like the end of the rule.
  if (/[*?()]/.test(below)) return [];
  return [{ rule: `file.write(${below}/**)`, label: `edits in ${below}/**` }];
}

async function isUseful({ rule }: RuleOffer, call: RuledCall, options: RuleOptions): Promise<boolean> {
  try {
    const { targets } = call.description;
    // Commands that only read need no rule, so offers are only about the others.
    const others = targets?.filter((target) => !(target.type === "command" && target.reads));
    const description = { ...call.description, ...(others && { targets: others }) };
    return await coversCall([parseRule(rule)], { ...call, description }, options);
  } catch {
    return false;
  }
}
