// The run that is measured: a model that asks for one tool call a turn and then ends, as fast as a program can.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool } from "../../../packages/core/dist/index.js";
import { createBullmqEngine } from "../../../packages/durable/dist/bullmq.js";
import { createFileEngine } from "../../../packages/durable/dist/index.js";

/** A turn is two steps: an answer and a call. */
export const STEPS_PER_TURN = 2;

/** What a run is started with. */
export const BENCH = { name: "bench", version: "1" };

const n = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

/** `tool` is what the model calls: `write`, or `wait`, which ends only when the run is cancelled. */
export function createAgent(
  { turns, tool = "write", thinkMs = 0, resultBytes = 0 },
  options = {},
  tell = () => undefined,
) {
  const model = {
    model: "bench",
    async respond({ messages }) {
      if (thinkMs > 0) await sleep(thinkMs);
      const done = messages.reduce((count, { role }) => count + (role === "tool" ? 1 : 0), 0);
      if (done >= turns) return { content: "Done.", toolCalls: [], finishReason: "stop" };
      const call = {
        id: `call_${done}`,
        type: "function",
        function: { name: tool, arguments: `{"n":${done}}` },
      };
      return { content: null, toolCalls: [call], finishReason: "tool_calls" };
    },
  };
  const agent = new Agent(model, { maxTurns: 10_000, ...options });
  agent.addTool(
    defineTool({
      name: "write",
      description: "Writes.",
      input: n,
      capabilities: ["write"],
      execute: ({ n }) => {
        tell({ n, at: Date.now() });
        const bytes = Math.ceil((resultBytes * 3) / 4);
        return `wrote ${n}${randomBytes(bytes).toString("base64")}`;
      },
    }),
  );
  agent.addTool(
    defineTool({
      name: "wait",
      description: "Waits.",
      input: n,
      capabilities: ["write"],
      execute: async (_, { signal }) => {
        tell({ waits: true });
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        tell({ stopped: Date.now() });
        return "stopped";
      },
    }),
  );
  return agent;
}

/** The input says what the run does; with `ask` its first call waits for a decision. */
export function definition(tell = () => undefined) {
  return {
    ...BENCH,
    create: ({ id, steps, input, approve }) => ({
      agent: createAgent(input, { steps, ...(input.ask && { approve }) }, (what) => tell({ id, ...what })),
      message: "go",
    }),
  };
}

/** `files:DIRECTORY`, or the options of the other engine as JSON. */
export async function openEngine(address) {
  if (address.startsWith("files:")) return createFileEngine(address.slice("files:".length));
  return await createBullmqEngine(JSON.parse(address));
}
