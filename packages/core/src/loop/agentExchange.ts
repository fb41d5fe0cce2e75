import { type AgentOptions, loopLimits } from "../agentOptions.js";
import type { Exchange } from "./exchange.js";
import { DIRECT_STEPS } from "./steps.js";
import { NO_TELEMETRY } from "./telemetry.js";
import { UsageMeter } from "./usage.js";

/** The parts of an exchange that do not follow from the agent's options. */
type Given = Omit<
  Exchange,
  | "limits"
  | "hooks"
  | "resolveModel"
  | "smallModel"
  | "steps"
  | "control"
  | "telemetry"
  | "scope"
  | "label"
  | "depth"
  | "meter"
  | "allowance"
>;

/** Creates the exchange of an agent from its options. The exchange of a child agent is derived from its parent's. */
export function agentExchange(options: AgentOptions, given: Given): Exchange {
  const limits = loopLimits(options, given.provider);
  return {
    ...given,
    limits,
    hooks: options.hooks ?? [],
    resolveModel: options.resolveModel,
    smallModel: options.smallModel,
    steps: options.steps ?? DIRECT_STEPS,
    telemetry: options.telemetry ?? NO_TELEMETRY,
    control: hasControl(options) ? options : undefined,
    scope: "",
    label: undefined,
    depth: 0,
    meter: new UsageMeter(),
    allowance: {
      turns: limits.maxTurns,
      children: limits.maxChildAgents,
      nestedCalls: limits.maxNestedCalls,
      running: [],
      exclusive: [],
    },
  };
}

function hasControl({ toolChoice, beforeRequest, stopWhen }: AgentOptions): boolean {
  return toolChoice !== undefined || beforeRequest !== undefined || stopWhen !== undefined;
}
