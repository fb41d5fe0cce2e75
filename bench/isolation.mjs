// What it costs to run a pack in its own process: a call, a start, memory, and the first request with ten packs. Linux with
// bubblewrap. Build first: pnpm exec turbo run build. Then: pnpm bench isolation [rounds].
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent, registerPack, ToolRegistry } from "../packages/core/dist/index.js";
import { grantsOf, Isolation } from "../packages/core/dist/isolation.js";
import { createReport } from "./support/report.mjs";

const ROUNDS = Number(process.argv[2] ?? 15);
const CALLS = 200;
const MODEL_MS = 300;
const report = createReport("isolation", "Isolated packs");

const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-bench-isolation-")));
mkdirSync(join(base, "pack"));
const entryOf = (name) => join(base, "pack", `${name}.mjs`);
for (let count = 0; count < 10; count++) {
  writeFileSync(
    entryOf(count),
    `const text = "x".repeat(4096);
    export const packName = "bench-${count}";
    export const register = (registry) => registry.register({
      name: "work${count}",
      capabilities: ["read"],
      getSchema: () => ({ type: "function", function: { name: "work${count}", description: "Works.", parameters: { type: "object", properties: { long: { type: "boolean" } } } } }),
      execute: async ({ long }) => (long ? text : "done"),
    });`,
  );
}

const isolation = new Isolation();
const { level, detail } = await isolation.status();
if (level !== "enforced") throw new Error(`Isolation is ${detail}.`);
const manifests = [];
for (let count = 0; count < 10; count++) manifests.push(await isolation.inspect(entryOf(count)));
const isolated = (count) =>
  isolation.pack({
    ...{ name: `bench-${count}`, entry: entryOf(count), required: "enforced" },
    ...{ manifest: manifests[count], grants: grantsOf(manifests[count]) },
  });

async function registryOf(pack) {
  const registry = new ToolRegistry();
  registerPack(registry, pack);
  await registry.run("work0");
  return registry;
}

/** Milliseconds of one call. */
async function callTime(registry, args) {
  const start = performance.now();
  for (let count = 0; count < CALLS; count++) await registry.run("work0", args);
  return (performance.now() - start) / CALLS;
}

const inProcess = await registryOf(await import(pathToFileURL(entryOf(0)).href));
const separate = await registryOf(isolated(0));
for (const [work, args] of [
  ["a call, short result", {}],
  ["a call, result of 4 KB", { long: true }],
]) {
  const over = [];
  for (let round = -1; round < ROUNDS; round++) {
    const more = (await callTime(separate, args)) - (await callTime(inProcess, args));
    if (round >= 0) over.push(more);
  }
  report.add({ work, unit: "ms over in process", reach: "≤ 0.3", values: over });
}
await separate.dispose();

const starts = [];
const memory = [];
for (let round = 0; round < ROUNDS; round++) {
  const registry = new ToolRegistry();
  registerPack(registry, isolated(0));
  const start = performance.now();
  await registry.run("work0");
  starts.push(performance.now() - start);
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  memory.push(children.reduce((sum, pid) => sum + privateBytes(pid), 0) / 1024 / 1024);
  await registry.dispose();
}
report.add({ work: "start with the first call", unit: "ms", reach: "≤ 80", values: starts });
report.add({ work: "private memory of an idle pack", unit: "MB", reach: "≤ 12", values: memory });

/** What a process and its children have for themselves. */
function privateBytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const own = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce(
    (sum, [, kb]) => sum + Number(kb) * 1024,
    0,
  );
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean);
  return children.reduce((sum, child) => sum + privateBytes(child), own);
}

/** The first answer of a model that takes 300 ms. */
async function firstRequest(packs) {
  const provider = {
    respond: async () => {
      await new Promise((resolve) => setTimeout(resolve, MODEL_MS));
      return { content: "Done.", toolCalls: [], finishReason: "stop" };
    },
  };
  const start = performance.now();
  const agent = new Agent(provider, { packs });
  await agent.chat("Go.");
  const time = performance.now() - start;
  await agent.dispose();
  return time;
}

const ratios = [];
for (let round = 0; round < ROUNDS; round++) {
  const without = await firstRequest([]);
  ratios.push((await firstRequest(manifests.map((_, count) => isolated(count)))) / without);
}
report.add({ work: "first request with ten packs", unit: "× without", reach: "≤ 1.2", values: ratios });
report.save();
rmSync(base, { recursive: true, force: true });
