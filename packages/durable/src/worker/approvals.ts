import { AgentError, type ApprovalDecision, type ApprovalRequest } from "@agent/core";
import type { Approval, Run } from "../engine/run.js";
import { callKey } from "../journal/keys.js";

/** Answers approval requests from the decisions of a run; requests without a decision are collected and suspend the run. */
export class RunApprovals {
  readonly #run: Run;
  readonly #pending = new Map<string, Approval>();

  constructor(run: Run) {
    this.#run = run;
  }

  get pending(): readonly Approval[] {
    return [...this.#pending.values()];
  }

  readonly approve = (request: ApprovalRequest): ApprovalDecision => {
    const { name, args, capabilities, needs } = request;
    const key = callKey({ ...request, callId: request.id });
    const { decisions } = this.#run;
    const own = decisions.find((one) => one.key === key);
    if (own) return own.decision;
    // "Always" covers calls within the access rules. A call that needs more is asked about each time.
    if (needs.length === 0 && decisions.some((one) => one.name === name && one.decision === "always")) {
      return "always";
    }
    this.#pending.set(key, { key, name, args, capabilities, needs });
    throw new AgentError("suspended", `${name} waits for a decision.`);
  };
}
