import {
  AgentError,
  type ApprovalDecision,
  type ApprovalRequest,
  type BudgetLimits,
  type OnBudget,
} from "@agent/core";
import { coversCall, isWithinShown, parseRule, type RuleTools } from "@agent/core/host";
import type { Approval, Decision, Run } from "../engine/run.js";
import { callKey, exchangePrefix } from "../journal/keys.js";

/** The name under which a run that has reached its limit waits for a decision. */
const BUDGET = "continue_beyond_budget";

/** Answers approval requests from the decisions of a run; requests without a decision are collected and suspend the run. */
export class RunApprovals {
  readonly #run: Run;
  readonly #pending = new Map<string, Approval>();
  /** The tools of the run's agent, which rules are about. Set when there is one. */
  tools: RuleTools | undefined;
  /** The exchange that calls belong to: see `JournalSteps.startExchange`. */
  exchange = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  get pending(): readonly Approval[] {
    return [...this.#pending.values()];
  }

  readonly approve = (request: ApprovalRequest): ApprovalDecision | Promise<ApprovalDecision> => {
    const { name, description, preview } = request;
    const key = exchangePrefix(this.exchange) + callKey({ ...request, callId: request.id });
    const { decisions } = this.#run;
    const own = decisions.findLast((one) => one.key === key);
    // An approval counts only for what was shown: a call that would do something else now is asked about again.
    const isSame = own && isWithinShown(description, own.shown) && own.basis === preview?.basis;
    if (own && (isSame || isDenial(own.decision))) return own.decision;
    // "Always" covers calls within the access rules. A call that needs more is asked about each time.
    const isAlways = decisions.some((one) => one.name === name && one.decision === "always");
    if (description.needs.length === 0 && isAlways) return "always";
    const rules = decisions.flatMap(({ decision }) =>
      typeof decision === "object" && "always" in decision ? [parseRule(decision.always)] : [],
    );
    if (description.needs.length > 0 || rules.length === 0 || !this.tools) return this.#wait(request, key);
    return coversCall(rules, request, { tools: this.tools, root: process.cwd() }).then((isCovered) =>
      isCovered ? "allow" : this.#wait(request, key),
    );
  };

  /** Suspends the run at a limit of its budget. Each approval adds the same amount once more, `always` lifts the limit. */
  readonly onBudget: OnBudget = ({ scope, limits, initial, message }) => {
    const { decisions } = this.#run;
    const key = `budget/${scope}/${portionsOf(limits, initial)}`;
    if (decisions.some((one) => one.name === BUDGET && one.decision === "always"))
      return Object.fromEntries(Object.keys(limits).map((limit) => [limit, Infinity]));
    const own = decisions.findLast((one) => one.key === key);
    const more = withMore(limits, initial);
    if (own) return isDenial(own.decision) ? undefined : more;
    const description = { title: message, kind: "other", needs: [], targets: [] } as const;
    const args = { reason: message, continueTo: more };
    this.#pending.set(key, { key, name: BUDGET, args, capabilities: [], description });
    throw new AgentError("suspended", message);
  };

  #wait(request: ApprovalRequest, key: string): ApprovalDecision {
    const { name, args, capabilities, description, preview } = request;
    if (request.cannotWait)
      return { deny: "a question inside another call cannot wait for a later decision." };
    this.#pending.set(key, { key, name, args, capabilities, description, ...(preview && { preview }) });
    throw new AgentError("suspended", `${name} waits for a decision.`);
  }
}

/** How often the first limits are in these. */
function portionsOf(limits: BudgetLimits, initial: BudgetLimits): number {
  const [now, first] =
    initial.maxCost === undefined ? [limits.maxTokens, initial.maxTokens] : [limits.maxCost, initial.maxCost];
  return Math.round((now ?? 0) / (first ?? 1));
}

function withMore({ maxCost, maxTokens }: BudgetLimits, initial: BudgetLimits): BudgetLimits {
  return {
    ...(maxCost !== undefined && { maxCost: maxCost + (initial.maxCost ?? maxCost) }),
    ...(maxTokens !== undefined && { maxTokens: maxTokens + (initial.maxTokens ?? maxTokens) }),
  };
}

function isDenial(decision: Decision): boolean {
  return typeof decision === "object" && "deny" in decision;
}
