// What @agent/core costs compared with a hand-written loop over `openai`. Run, after `pnpm build` and `npm install` in
// bench/: node bench/core.mjs [rounds] [json|streaming|json4k|streaming4k|deltas|seam|import|packages|parallel|abort|idle|descriptions …]
// Everything is measured side by side in one run. Each contestant runs in its own process, so that none pays for what
// another left behind. In each round every contestant is paired with the hand-written loop, one right after the other and
// in turn first or second, over several conversations; the figure is the median of the ratios of all pairs. No heap is
// swept in between: that throws compiled code away, and the first conversation after it takes three times as long.
import { execFileSync, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ContestantError, startContestant } from "./support/contestants.mjs";
import { BY_HAND, CONTESTANTS, OURS, ours } from "./support/coreContestants.mjs";
import { comparePairs, cpuTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";
import { median } from "./support/statistics.mjs";

const [rounds = "15", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
// Conversations before the first measurement, and those that are measured together. The engine still compiles a part of the
// code after 40 conversations of 50 turns; bench/providers.mjs says what that does to a ratio.
const WARM_UP = { turns: 120, deltas: 60, parallel: 5 };
const TOGETHER = { turns: 4, deltas: 12, parallel: 1 };
const TURNS = 50;
const SEAMS = 100;
/** A program that takes longer for its first conversation does not take part. */
const ANSWER_MS = 30_000;
const CORE = fileURLToPath(new URL("../packages/core/", import.meta.url));

const server = fork(new URL("support/coreServer.mjs", import.meta.url));
const [port] = await once(server, "message");
const at = (conversation) => `http://127.0.0.1:${port}/${conversation}/v1`;

const small = async ({ path, limit }) => `${path}: ${limit} lines`;

const report = createReport("core", "@agent/core compared with a hand-written loop over openai");
const parts = {
  json: () => compareCpu("CPU per turn, JSON", "turns", "small", { stream: false, reach: 1.1 }),
  streaming: () => compareCpu("CPU per turn, streaming", "turns", "small", { stream: true, reach: 1.1 }),
  json4k: () =>
    compareCpu("CPU per turn, JSON, 4 KB results", "turns", "large", { stream: false, reach: 1.1 }),
  streaming4k: () =>
    compareCpu("CPU per turn, streaming, 4 KB results", "turns", "large", { stream: true, reach: 1.1 }),
  deltas: () => compareCpu("CPU, 2000 streamed deltas", "deltas", "small", { stream: true, reach: 0.6 }),
  seam: measureSeam,
  import: compareImports,
  packages: comparePackages,
  parallel: measureParallel,
  abort: measureAbort,
  idle: measureIdle,
  descriptions: measureDescriptions,
};
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
server.disconnect();
report.save({ isPartial: wanted.length > 0 });

/**
 * What the journal interface (`steps`) costs an agent without a journal. The loop always calls it, and one call costs
 * less than the noise of a conversation: so it is called a hundred times more, and the cost of one call is a hundredth
 * of what that adds.
 */
async function measureSeam() {
  let steps = { answer: (_key, ask) => ask(), call: (_key, run) => run() };
  for (let seam = 0; seam < SEAMS; seam++) {
    const inner = steps;
    steps = {
      answer: (key, ask) => inner.answer(key, ask),
      call: (key, run) => inner.call(key, run),
    };
  }
  const task = { baseURL: at("turns"), tool: small };
  const [one, many] = [await ours(task), await ours(task, { steps })];
  const measure = (run) =>
    cpuTime(async () => {
      for (let time = 0; time < TOGETHER.turns; time++) await run({ stream: false });
    });
  for (let time = 0; time < WARM_UP.turns; time++)
    for (const run of [one, many]) await run({ stream: false });
  const values = [];
  for (let round = 0; round < ROUNDS * 2; round++) {
    const first = await measure(round % 2 === 0 ? one : many);
    const second = await measure(round % 2 === 0 ? many : one);
    const ratio = round % 2 === 0 ? second / first : first / second;
    values.push(1 + (ratio - 1) / SEAMS);
  }
  add({
    work: "CPU per turn with a journal seam that is not used",
    unit: "× without",
    reach: 1.01,
    name: "@agent/core",
    values,
    note: `a hundredth of what ${SEAMS} seams add`,
  });
}

/** A process for each contestant that completes the conversation, warmed up. */
async function startContestants(conversation, tool, stream) {
  const contestants = new Map();
  for (const name of CONTESTANTS) {
    const file = new URL("support/coreWorker.mjs", import.meta.url);
    const contestant = startContestant(name, file, [at(conversation), name, tool]);
    const isFit = await orLeaveOut(async () => {
      await Promise.race([contestant.work({ stream, times: 1 }), rejectLate(name)]);
      await contestant.work({ stream, times: WARM_UP[conversation] });
      return true;
    });
    if (isFit) contestants.set(name, contestant);
    else contestant.stop();
  }
  return contestants;
}

async function rejectLate(name) {
  await sleep(ANSWER_MS, undefined, { ref: false });
  throw new ContestantError(name, "it does not answer");
}

/** A failure of one framework must not remove the rows of the others; without us or the loop by hand there are none. */
async function orLeaveOut(measure) {
  try {
    return await measure();
  } catch (error) {
    if (!(error instanceof ContestantError)) throw error;
    if (error.who === OURS || error.who === BY_HAND) throw new Error(`${error.who}: ${error.message}`);
    report.leaveOut(error.who, error.message);
    return undefined;
  }
}

async function compareCpu(title, conversation, tool, { stream, reach }) {
  const contestants = await startContestants(conversation, tool, stream);
  const byHand = contestants.get(BY_HAND);
  const times = TOGETHER[conversation];
  const measure = async (contestant) => (await contestant.work({ stream, times })).cpu;
  const baseline = [];
  for (const [name, contestant] of contestants) {
    if (contestant === byHand) continue;
    const measured = await orLeaveOut(() =>
      comparePairs({ rounds: ROUNDS, warmUp: 0, ours: contestant, theirs: byHand, measure }),
    );
    if (!measured) continue;
    baseline.push(...measured.theirs.map((cpu) => cpu / times));
    const base = median(baseline);
    const note =
      conversation === "turns"
        ? `the loop by hand takes ${Math.round(base / TURNS)} µs a turn`
        : `the loop by hand takes ${Math.round(base)} µs`;
    add({ work: title, unit: "× by hand", reach, name, values: measured.ratios, note });
  }
  for (const contestant of contestants.values()) contestant.stop();
}

/** Adds one row; only our own rows have a `reach`. */
function add({ work, unit, reach, name, values, note }) {
  const isOurs = name === OURS;
  report.add({
    work,
    unit,
    values,
    ...(isOurs ? { reach: `≤ ${reach}` } : { who: name }),
    ...(isOurs && note !== undefined && { note }),
  });
}

async function compareImports() {
  const sources = {
    "@agent/core": new URL("../packages/core/dist/index.js", import.meta.url).href,
    openai: import.meta.resolve("openai"),
  };
  const times = { "@agent/core": [], openai: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, url] of Object.entries(sources)) {
      const script = `const before = process.cpuUsage(); await import(${JSON.stringify(url)}); const { user, system } = process.cpuUsage(before); console.log(user + system)`;
      times[name].push(
        Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })),
      );
    }
  }
  add({
    work: "import, CPU in fresh processes",
    unit: "× importing openai",
    reach: 0.2,
    name: "@agent/core",
    values: times["@agent/core"].map((time, round) => time / times.openai[round]),
  });
}

function comparePackages() {
  const common = { work: "packages installed", unit: "packages", reach: 1 };
  add({ ...common, name: "@agent/core", values: [installedBy("@agent/core", CORE, new Set()).size] });
  for (const name of ["openai", "ai", "@openai/agents", "langchain"]) {
    const found = installedBy(name, undefined, new Set());
    if (found.size > 0) add({ ...common, name, values: [found.size] });
  }
}

/** The names of a package and everything it depends on, as it is installed. */
function installedBy(name, folder, found, from = import.meta.url) {
  const directory = folder ?? packageFolder(name, from);
  if (directory === undefined || found.has(name)) return found;
  found.add(name);
  const { dependencies = {} } = JSON.parse(readFileSync(`${directory}/package.json`, "utf8"));
  for (const dependency of Object.keys(dependencies))
    installedBy(dependency, undefined, found, `${directory}/package.json`);
  return found;
}

function packageFolder(name, from) {
  const folders = createRequire(from).resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      readFileSync(`${folder}/${name}/package.json`);
      return `${folder}/${name}`;
    } catch {
      // The package is not in this folder: try the next.
    }
  }
  return undefined;
}

async function measureParallel() {
  const contestants = await startContestants("parallel", "slow", false);
  for (const [name, contestant] of contestants) {
    const values = await orLeaveOut(async () => {
      const walls = [];
      for (let round = 0; round < ROUNDS; round++) {
        walls.push((await contestant.work({ stream: false, times: TOGETHER.parallel })).wall);
      }
      return walls;
    });
    contestant.stop();
    if (!values) continue;
    add({ work: "8 calls of 100 ms in one turn, whole conversation", unit: "ms", reach: 112, name, values });
  }
}

/** The time from `abort()` until the promise rejects, while a tool runs that ignores the abort. */
async function measureAbort() {
  const times = [];
  for (let round = -ROUNDS; round < ROUNDS; round++) {
    const controller = new AbortController();
    const events = new EventEmitter();
    const tool = async () => {
      events.emit("running");
      await sleep(100);
      return "done";
    };
    const agent = await ours({ baseURL: at("once"), tool });
    const chat = agent({ stream: false, signal: controller.signal });
    await once(events, "running");
    const before = performance.now();
    controller.abort();
    await chat.catch(() => undefined);
    if (round >= 0) times.push(performance.now() - before);
  }
  add({
    work: "abort until chat rejects, with a tool that does not stop",
    unit: "ms",
    reach: 10,
    name: "@agent/core",
    values: times,
  });
}

/** What one idle agent with a tool and a pack holds in memory, over many of them. */
async function measureIdle() {
  const { Agent, definePack, defineTool } = await import(`${CORE}dist/index.js`);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const input = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const tool = defineTool({ name: "look", description: "Looks.", input, execute: () => "" });
  const pack = definePack({ name: "bench-pack", setup: () => ({ tools: [tool] }) });
  const provider = { respond: async () => ({ content: "", toolCalls: [], finishReason: "stop" }) };
  const values = [];
  // All stay alive: agents of the round before that are collected in this one would hide its own.
  const agents = [];
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let made = 0; made < 2000; made++) agents.push(new Agent(provider, { tools: [pack] }));
    collect();
    values.push((process.memoryUsage().heapUsed - before) / 2000 / 1024);
  }
  if (agents.length !== ROUNDS * 2000) throw new Error("An agent is missing.");
  add({ work: "memory of an idle agent with a pack", unit: "KB", reach: 8, name: "@agent/core", values });
}

/** An agent without a gate, a listener or hooks: a tool that can describe its calls compared with one that cannot. */
async function measureDescriptions() {
  const { Agent, defineTool } = await import(`${CORE}dist/index.js`);
  const input = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const plain = { name: "look", description: "Looks.", input, capabilities: ["read"], execute: () => "seen" };
  const describe = ({ path }) => ({ targets: [{ type: "file", path, access: "read" }] });
  const conversation = async (tool) => {
    let turn = 0;
    const call = { id: "c", type: "function", function: { name: "look", arguments: '{"path":"/a"}' } };
    const respond = async () => {
      const isLast = ++turn > TURNS;
      const toolCalls = isLast ? [] : [{ ...call, id: `c${turn}` }];
      return { content: isLast ? "done" : null, toolCalls, finishReason: isLast ? "stop" : "tool_calls" };
    };
    const agent = new Agent({ respond }, { tools: [tool], maxRepeats: TURNS * 2 });
    const before = process.cpuUsage();
    await agent.chat("go");
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const tools = [defineTool(plain), defineTool({ ...plain, describe })];
  for (let times = 0; times < 100; times++) for (const tool of tools) await conversation(tool);
  const values = [];
  for (let round = 0; round < ROUNDS; round++) {
    // The heap is collected in some conversations, which takes as long as several others.
    const times = [[], []];
    for (let pair = 0; pair < 60; pair++) {
      for (const index of pair % 2 === 0 ? [0, 1] : [1, 0])
        times[index].push(await conversation(tools[index]));
    }
    values.push(median(times[1]) / median(times[0]));
  }
  add({
    work: "tools that describe calls, no gate or listener",
    unit: "×",
    reach: 1.01,
    name: "@agent/core",
    values,
  });
}
