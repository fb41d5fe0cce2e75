// The cost of a child agent compared with a second Agent that does the same. Build first: pnpm exec turbo run build.
// Then: pnpm bench agents [rounds].
import { Agent, defineTool } from "../packages/core/dist/index.js";
import * as agents from "../packages/tools-agents/dist/index.js";
import { createReport } from "./support/report.mjs";

const ROUNDS = Number(process.argv[2] ?? 200);
const report = createReport("agents", "Sub-agents");
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: {} },
  capabilities: ["read"],
  execute: () => "seen",
});

/** Asks for a child once, and answers everything else immediately. */
const provider = {
  model: "test",
  async respond({ messages, tools }) {
    const isParent = tools.some((tool) => tool.function.name === "agent_run");
    const isAsked = messages.at(-1).role === "user" && messages.at(-1).content === "delegate";
    if (!isParent || !isAsked) return { content: "Done.", toolCalls: [], finishReason: "stop" };
    const args = JSON.stringify({ agent: "explore", task: "look" });
    const call = { id: "call", type: "function", function: { name: "agent_run", arguments: args } };
    return { content: null, toolCalls: [call], finishReason: "tool_calls" };
  },
};

const child = [];
const second = [];
for (let round = -20; round < ROUNDS; round++) {
  const parent = new Agent(provider, { packs: [[agents, { projectAgents: false }], look] });
  let start = performance.now();
  await parent.chat("delegate");
  const withChild = performance.now() - start;
  await parent.dispose();
  // The same three answers of the model by two agents, without a tool between them.
  start = performance.now();
  const first = new Agent(provider, { packs: [look] });
  const other = new Agent(provider, { packs: [look] });
  await first.chat("a");
  await first.chat("b");
  await other.chat("look");
  const withSecond = performance.now() - start;
  await Promise.all([first.dispose(), other.dispose()]);
  if (round < 0) continue;
  child.push(withChild);
  second.push(withSecond);
}
report.add({
  work: "a child over a second Agent",
  unit: "ms",
  reach: "≤ 1",
  values: child.map((time, at) => time - second[at]),
});
report.save();
