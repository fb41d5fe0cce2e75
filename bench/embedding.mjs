// What many agents cost the program they are embedded in, compared with the AI SDK, in one run: pnpm bench embedding
// Idle agents: memory per agent with file, search and shell tools. Chats: CPU of 1,000 concurrent ones with a tool call each.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { comparePairs, cpuTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";

const AGENTS = 1000;
const ROUNDS = 5;
const DESCRIPTION = "Looks something up.";
const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" }, limit: { type: "integer" } },
  required: ["path"],
};
const lookUp = async ({ path }) => `${path}: found`;

const [role] = process.argv.slice(2);
const MEMORY_ROLES = {
  "memory-agent": idleAgents,
  "memory-ai-sdk": (count) => idleAiSdk(count, zodSchema),
  "memory-ai-sdk-shared": (count) => idleAiSdk(count, sharedSchema),
};
if (role === undefined) await main();
else await printMemory(MEMORY_ROLES[role]);

async function main() {
  const report = createReport("embedding", "Many agents in one program");
  const memory = (who) =>
    Array.from({ length: ROUNDS }, () =>
      Number(
        execFileSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), `memory-${who}`], {
          encoding: "utf8",
        }),
      ),
    );
  const work = `memory per idle agent with three packs, of ${AGENTS}`;
  report.add({ work, unit: "KB", reach: "≤ 8", values: memory("agent") });
  const stubs = "the tools do nothing";
  report.add({
    work,
    unit: "KB",
    who: "AI SDK, tools made for each agent with zod",
    values: memory("ai-sdk"),
    note: stubs,
  });
  report.add({
    work,
    unit: "KB",
    who: "AI SDK, all agents share the schemas",
    values: memory("ai-sdk-shared"),
    note: stubs,
  });
  const server = fork(fileURLToPath(new URL("support/coreServer.mjs", import.meta.url)));
  const [serverPort] = await once(server, "message");
  const baseURL = `http://127.0.0.1:${serverPort}/once/v1`;
  const { ratios } = await comparePairs({
    rounds: ROUNDS,
    measure: cpuTime,
    ours: await agentChats(baseURL),
    theirs: await aiSdkChats(baseURL),
  });
  report.add({
    work: `CPU of ${AGENTS} concurrent chats with a tool call each`,
    unit: "× AI SDK",
    reach: "≤ 1.0",
    values: ratios,
  });
  server.disconnect();
  report.save();
}

async function printMemory(create) {
  const made = await create(1);
  const before = usedBytes();
  made.push(...(await create(AGENTS)));
  console.log((usedBytes() - before) / AGENTS / 1024);
  if (made.length !== AGENTS + 1) throw new Error("An agent is missing.");
}

/** The heap, and buffers outside it. */
function usedBytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function idleAgents(count) {
  const { Agent, packs } = await ourParts();
  const { scriptedProvider } = await import("../packages/core/dist/replay.js");
  const provider = scriptedProvider([]);
  return Array.from({ length: count }, () => new Agent(provider, { tools: packs }));
}

async function ourParts() {
  const { Agent } = await import("../packages/core/dist/index.js");
  const packs = await Promise.all(
    ["fs", "search", "bash"].map((name) => import(`../packages/tools-${name}/dist/index.js`)),
  );
  return { Agent, packs };
}

/** Tools with the same schemas, but without an implementation. `toSchema` makes the schema of a tool's input. */
async function idleAiSdk(count, toSchema) {
  const { ToolLoopAgent, tool } = await import("ai");
  const model = await aiSdkModel("http://127.0.0.1:1/v1");
  const { Agent, packs } = await ourParts();
  const { scriptedProvider } = await import("../packages/core/dist/replay.js");
  const offered = new Agent(scriptedProvider([]), {
    tools: packs,
    enable: ["remove", "run_bash"],
  }).getTools();
  const inputs = await Promise.all(offered.map(({ function: { parameters } }) => toSchema(parameters)));
  return Array.from({ length: count }, () => {
    const tools = Object.fromEntries(
      offered.map(({ function: { name, description } }, index) => [
        name,
        tool({ description, inputSchema: inputs[index](), execute: async () => "" }),
      ]),
    );
    return new ToolLoopAgent({ model, tools });
  });
}

/** Tools as the AI SDK's documentation writes them: each tool creates its own schema. */
async function zodSchema({ properties, required = [] }) {
  const { z } = await import("zod");
  const types = {
    string: z.string,
    integer: z.int,
    number: z.number,
    boolean: z.boolean,
    object: z.looseObject,
  };
  const toType = ({ type, items = { type: "string" } }) =>
    type === "array"
      ? z.array(toType(items))
      : (types[type] ?? z.unknown)(type === "object" ? {} : undefined);
  const toField = ([name, property]) => {
    const field = toType(property).describe(property.description ?? "");
    return [name, required.includes(name) ? field : field.optional()];
  };
  return () => z.object(Object.fromEntries(Object.entries(properties).map(toField)));
}

async function sharedSchema(parameters) {
  const { jsonSchema } = await import("ai");
  return () => jsonSchema(parameters);
}

async function aiSdkModel(baseURL) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: "bench", apiKey: "k", baseURL })("m");
}

async function agentChats(baseURL) {
  const { Agent, defineTool } = await import("../packages/core/dist/index.js");
  const { OpenAIProvider } = await import("../packages/provider-openai/dist/index.js");
  const provider = new OpenAIProvider({ baseURL, apiKey: "k", model: "m" });
  const lookup = defineTool({ name: "lookup", description: DESCRIPTION, input: PARAMETERS, execute: lookUp });
  return () => inParallel(() => new Agent(provider, { tools: [lookup] }).chat("Look it up."));
}

async function aiSdkChats(baseURL) {
  const { ToolLoopAgent, jsonSchema, tool } = await import("ai");
  const model = await aiSdkModel(baseURL);
  const lookup = tool({ description: DESCRIPTION, inputSchema: jsonSchema(PARAMETERS), execute: lookUp });
  return () =>
    inParallel(async () => {
      const agent = new ToolLoopAgent({ model, tools: { lookup } });
      return (await agent.generate({ prompt: "Look it up." })).text;
    });
}

async function inParallel(chat) {
  const answers = await Promise.all(Array.from({ length: AGENTS }, chat));
  const wrong = answers.find((answer) => answer !== "All done.");
  if (wrong !== undefined) throw new Error(`answered ${JSON.stringify(wrong)}`);
}
