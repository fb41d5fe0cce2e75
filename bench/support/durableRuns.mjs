// The run that is measured: a model that asks for one tool call a turn and then ends, as fast as a program can.
import { Agent, defineTool } from "../../packages/core/dist/index.js";
import { createBullmqEngine } from "../../packages/durable/dist/bullmq.js";
import { createFileEngine } from "../../packages/durable/dist/index.js";

/** A turn is two steps: an answer and a call. */
export const STEPS_PER_TURN = 2;

export function createAgent(turns, options = {}, onTool = () => undefined) {
  const model = {
    model: "bench",
    async respond({ messages }) {
      const done = messages.reduce((count, { role }) => count + (role === "tool" ? 1 : 0), 0);
      if (done >= turns) return { content: "Done.", toolCalls: [], finishReason: "stop" };
      const call = {
        id: `call_${done}`,
        type: "function",
        function: { name: "write", arguments: `{"n":${done}}` },
      };
      return { content: null, toolCalls: [call], finishReason: "tool_calls" };
    },
  };
  const agent = new Agent(model, { maxTurns: 10_000, ...options });
  agent.addTool(
    defineTool({
      name: "write",
      description: "Writes.",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      capabilities: ["write"],
      execute: ({ n }) => {
        onTool(n);
        return `wrote ${n}`;
      },
    }),
  );
  return agent;
}

export function definition(onTool) {
  return {
    name: "bench",
    version: "1",
    create: ({ steps, input }) => ({ agent: createAgent(input.turns, { steps }, onTool), message: "go" }),
  };
}

/** `files:DIRECTORY`, or the options of the other engine as JSON. */
export async function openEngine(address) {
  if (address.startsWith("files:")) return createFileEngine(address.slice("files:".length));
  return await createBullmqEngine(JSON.parse(address));
}
