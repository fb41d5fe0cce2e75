import { type AgentOptions, loopLimits } from "../agentOptions.js";
import type { Exchange } from "./exchange.js";
import { DIRECT_STEPS } from "./steps.js";
import { NO_TELEMETRY } from "./telemetry.js";
import { UsageMeter } from "./usage.js";

/** What differs from one exchange of an agent to the next, and what the agent itself has. */
type Given = Omit<
  Exchange,
  "limits" | "hooks" | "steps" | "telemetry" | "scope" | "label" | "depth" | "meter" | "allowance"
>;

/** An exchange of an agent, by its options. That of a child agent is made from it. */
export function agentExchange(options: AgentOptions, given: Given): Exchange {
  const limits = loopLimits(options, given.provider);
  return {
    ...given,
    limits,
    hooks: options.hooks ?? [],
    steps: options.steps ?? DIRECT_STEPS,
    telemetry: options.telemetry ?? NO_TELEMETRY,
    scope: "",
    label: undefined,
    depth: 0,
    meter: new UsageMeter(),
    allowance: { turns: limits.maxTurns, children: limits.maxChildAgents },
  };
}
