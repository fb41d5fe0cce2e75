import type { Effort } from "../providers/interface.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  checkEffort,
  checkObject,
  checkPositive,
  checkText,
  textsOf,
} from "../toolkit/hostOptions/checks.js";
import type { Schema } from "../toolkit/jsonSchema/standardSchema.js";
import { defineTool } from "./defineTool.js";
import type { ExecutableTool } from "./interface.js";

/** A child agent that the model can call like a tool. */
export interface AgentToolDefinition<Name extends string = string> {
  readonly name: Name;
  /** What it is good at: the model decides by it. */
  readonly description: string;
  readonly systemPrompt?: string;
  /** The tools it may use, among those of the agent. Default: all of them. */
  readonly tools?: readonly string[];
  /** The model it uses, by a name that `resolveModel` of the agent knows. Default: the agent's own. */
  readonly model?: string;
  /** The form of its answer. Default: text. */
  readonly output?: Schema;
  readonly maxTurns?: number;
  readonly effort?: Effort;
}

const OPTIONS: OptionChecks<AgentToolDefinition> = {
  name: checkText,
  description: checkText,
  systemPrompt: checkText,
  tools: textsOf("tool names"),
  model: checkText,
  output: () => undefined,
  maxTurns: checkPositive,
  effort: checkEffort,
};

/**
 * A tool that starts a child agent with its own conversation and resolves to its answer. The child has no more tools than
 * its parent, its calls are approved like any other, and what it uses counts for the message.
 *
 * @example
 * ```ts
 * import { Agent, agentTool } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const research = agentTool({ name: "research", description: "Finds facts.", systemPrompt: "Answer with sources.", tools: [] });
 * const agent = new Agent(scriptedProvider([{ calls: [{ name: "research", args: { task: "Oslo?" } }] }, "717,710.", "About 717,710."]), {
 *   tools: [research],
 * });
 * console.log(await agent.chat("How many people live in Oslo?")); // About 717,710.
 * ```
 */
export function agentTool<const Name extends string>(
  definition: AgentToolDefinition<Name>,
): ExecutableTool & { readonly name: Name } {
  checkObject("definition", definition);
  checkOptions("agentTool", definition, OPTIONS);
  const { name, description, output, ...request } = definition;
  return defineTool({
    name,
    description,
    input: {
      type: "object",
      properties: {
        task: {
          type: "string",
          minLength: 1,
          description:
            "What to do, with everything the agent needs to know: it does not see this conversation.",
        },
      },
      required: ["task"],
      additionalProperties: false,
    },
    // Its own work is done by calls that are approved and recorded one by one.
    capabilities: ["read"],
    repeatable: true,
    async execute({ task }, call) {
      if (!call.startAgent) throw new Error("it can only be called by an agent.");
      const answer = await call.startAgent({
        ...request,
        ...(output && { output }),
        message: task,
        label: name,
      });
      if (!output) return answer.text;
      call.report({ value: answer.output });
      return JSON.stringify(answer.output);
    },
  });
}
