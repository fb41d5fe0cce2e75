// What code mode costs: the first script, a call inside a script, and the tokens of a task in both forms. Build first:
// pnpm exec turbo run build. Then: pnpm bench code [rounds].
import { Agent, defineTool } from "../packages/core/dist/index.js";
import { scriptedProvider } from "../packages/core/dist/replay.js";
import * as code from "../packages/tools-code/dist/index.js";
import { createReport } from "./support/report.mjs";

const ROUNDS = Number(process.argv[2] ?? 15);
const CALLS = 1000;
const CHARACTERS_PER_TOKEN = 4;
const report = createReport("code", "Code mode");

const trivial = defineTool({
  name: "trivial",
  description: "Returns its number.",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  capabilities: ["read"],
  execute: ({ n }) => String(n),
});

/** Makes the same calls as the script, without it. */
const direct = defineTool({
  name: "direct",
  description: "Calls a tool many times.",
  input: { type: "object", properties: {} },
  capabilities: ["read"],
  execute: async (_input, call) => {
    for (let n = 0; n < CALLS; n++) await call.callTool("trivial", { n });
    return "";
  },
});

const call = (name, args = {}) => ({ calls: [{ name, args }] });

async function timeOf(agent, message = "go") {
  const start = performance.now();
  await agent.chat(message);
  return performance.now() - start;
}

/** The first script of a process's first agent, thread and interpreter included. */
const first = [];
for (let round = 0; round < ROUNDS; round++) {
  const agent = new Agent(scriptedProvider([call("run_script", { script: "return 1;" }), "Done."]), {
    packs: [code],
  });
  first.push(await timeOf(agent));
  await agent.dispose();
}
report.add({ work: "first script", unit: "ms", reach: "≤ 150", values: first });

const ratios = [];
const script = `await Promise.all(Array.from({ length: ${CALLS} }, (_, n) => tools.trivial({ n })));`;
for (let round = -1; round < ROUNDS; round++) {
  const answers = [call("run_script", { script: "return 1;" }), "Warm.", call("direct"), "Done."];
  const agent = new Agent(scriptedProvider([...answers, call("run_script", { script }), "Done."]), {
    packs: [code, trivial, direct],
  });
  await agent.chat("warm up");
  const directly = await timeOf(agent);
  const inScript = await timeOf(agent);
  if (round >= 0) ratios.push(inScript / directly);
  await agent.dispose();
}
report.add({ work: `${CALLS} inner calls`, unit: "× direct calls", reach: "≤ 1.5", values: ratios });

/** Forty reads and one write: what all requests of the task send, in characters of JSON. */
const FILES = 40;
const read = defineTool({
  name: "read",
  description: "Reads a file.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  capabilities: ["read"],
  execute: ({ path }) =>
    `# ${path}\n${"A line of a file with some words in it.\n".repeat(40)}total: ${path.length}\n`,
});
const write = defineTool({
  name: "write",
  description: "Writes a file.",
  input: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  },
  capabilities: ["write"],
  execute: () => "Written.",
});
async function tokensOf(answers, packs) {
  let characters = 0;
  const scripted = scriptedProvider(answers);
  const provider = {
    model: "counted",
    respond: async (request) => {
      characters += JSON.stringify([request.messages, request.tools]).length;
      const response = await scripted.respond(request);
      characters += JSON.stringify(response).length;
      return response;
    },
  };
  const agent = new Agent(provider, { packs });
  await agent.chat("Write the totals of all files to totals.txt.");
  await agent.dispose();
  return characters / CHARACTERS_PER_TOKEN;
}
const paths = Array.from({ length: FILES }, (_, n) => `src/module${n}/index.ts`);
const totals = paths.map((path) => `${path} ${path.length}`).join("\n");
const written = call("write", { path: "totals.txt", content: totals });
// Eight calls in an answer, as models make them; one at a time costs more.
const batches = Array.from({ length: FILES / 8 }, (_, at) => ({
  calls: paths.slice(at * 8, at * 8 + 8).map((path) => ({ name: "read", args: { path } })),
}));
const task = `const paths = Array.from({ length: ${FILES} }, (_, n) => \`src/module\${n}/index.ts\`);
const texts = await Promise.all(paths.map((path) => tools.read({ path })));
const lines = texts.map((text, at) => paths[at] + " " + /total: (\\d+)/.exec(text)[1]);
await tools.write({ path: "totals.txt", content: lines.join("\\n") });`;
const single = await tokensOf([...batches, written, "Done."], [read, write]);
const inScript = await tokensOf([call("run_script", { script: task }), "Done."], [code, read, write]);
report.add({
  work: "40 reads and one write: tokens in code mode",
  unit: "% of single calls",
  reach: "≤ 25",
  values: [(inScript / single) * 100],
  note: `about ${Math.round(inScript)} and ${Math.round(single)} tokens`,
});
report.save();
