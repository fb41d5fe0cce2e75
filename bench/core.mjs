// What @agent/core costs beside a hand-written loop over `openai`. Run, after `pnpm build` and `npm install` in
// bench/: node bench/core.mjs [rounds] [json|streaming|json4k|streaming4k|deltas|seam|import|packages|parallel|abort …]
// Everything is measured side by side in one run. In each round every contestant is paired with the hand-written
// loop, one right after the other and in turn first or second, each on a heap just swept; the figure is the median of
// the ratios of all pairs. So no contestant is charged for another's garbage, or for a processor that is slower at
// that moment.
import { execFileSync, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { contestants, ours } from "./support/coreContestants.mjs";
import { createReport } from "./support/report.mjs";
import { median } from "./support/statistics.mjs";

const [rounds = "21", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
const WARM_UP = 10;
const TURNS = 50;
const SEAMS = 100;
/** A program that takes longer for its first conversation does not take part. */
const ANSWER_MS = 30_000;
const BASELINE = "hand-written loop over openai";
const CORE = fileURLToPath(new URL("../packages/core/", import.meta.url));

setFlagsFromString("--expose-gc");
const sweep = runInNewContext("gc");

// openai's runTools adds a listener to one signal in every turn, and Node warns about it each time.
process.removeAllListeners("warning");

const server = fork(new URL("support/coreServer.mjs", import.meta.url));
const [port] = await once(server, "message");
const at = (conversation) => `http://127.0.0.1:${port}/${conversation}/v1`;

const small = async ({ path, limit }) => `${path}: ${limit} lines`;
const FILLER = "x".repeat(4096);
const large = async ({ path }) => `${path}\n${FILLER}`;

const report = createReport("core", "@agent/core beside a hand-written loop over openai");
const parts = {
  json: () => compareCpu("CPU per turn, JSON", "turns", small, { stream: false, reach: 1.1 }),
  streaming: () => compareCpu("CPU per turn, streaming", "turns", small, { stream: true, reach: 1.1 }),
  json4k: () => compareCpu("CPU per turn, JSON, 4 KB results", "turns", large, { stream: false, reach: 1.1 }),
  streaming4k: () =>
    compareCpu("CPU per turn, streaming, 4 KB results", "turns", large, { stream: true, reach: 1.1 }),
  deltas: () => compareCpu("CPU, 2000 streamed deltas", "deltas", small, { stream: true, reach: 0.6 }),
  seam: measureSeam,
  import: compareImports,
  packages: comparePackages,
  parallel: measureParallel,
  abort: measureAbort,
};
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
server.disconnect();
report.save({ isPartial: wanted.length > 0 });

async function cpuOf(run, stream) {
  sweep();
  const before = process.cpuUsage();
  const text = await run({ stream });
  const { user, system } = process.cpuUsage(before);
  if (!/^(All done\.|word )/.test(text)) throw new Error(`answered ${JSON.stringify(text)}`);
  return user + system;
}

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
  const [one, many] = [ours(at("turns"), small), ours(at("turns"), small, { steps })];
  const values = [];
  for (let round = -WARM_UP; round < ROUNDS * 2; round++) {
    const first = await cpuOf(round % 2 === 0 ? one : many, false);
    const second = await cpuOf(round % 2 === 0 ? many : one, false);
    const ratio = round % 2 === 0 ? second / first : first / second;
    if (round >= 0) values.push(1 + (ratio - 1) / SEAMS);
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

/** The contestants that complete the conversation. A failure of one must not remove the rows of the others. */
async function answering(conversation, tool, { stream }) {
  const found = await contestants(at(conversation), tool, report);
  for (const [name, run] of Object.entries(found)) {
    if (name === BASELINE || name === "@agent/core") continue;
    const problem = await firstAnswer(run, stream);
    if (problem === undefined) continue;
    report.leaveOut(name, problem);
    delete found[name];
  }
  return found;
}

/** What is wrong with the first conversation of a contestant, if anything is. */
async function firstAnswer(run, stream) {
  const answered = cpuOf(run, stream).then(
    () => undefined,
    (error) => `it fails (${error.message})`,
  );
  return await Promise.race([answered, sleep(ANSWER_MS, "it does not answer", { ref: false })]);
}

async function compareCpu(title, conversation, tool, { stream, reach }) {
  const { [BASELINE]: byHand, ...others } = await answering(conversation, tool, { stream });
  const measure = (run) => cpuOf(run, stream);
  const baseline = [];
  const ratios = new Map(Object.keys(others).map((name) => [name, []]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(others)) {
      const first = await measure(round % 2 === 0 ? byHand : run);
      const second = await measure(round % 2 === 0 ? run : byHand);
      const [own, base] = round % 2 === 0 ? [second, first] : [first, second];
      if (round < 0) continue;
      baseline.push(base);
      ratios.get(name).push(own / base);
    }
  }
  const base = median(baseline);
  const note =
    conversation === "turns"
      ? `the loop by hand takes ${Math.round(base / TURNS)} µs a turn`
      : `the loop by hand takes ${Math.round(base)} µs`;
  for (const [name, values] of ratios) add({ work: title, unit: "× by hand", reach, name, values, note });
}

/** Adds one row; only our own rows have a `reach`. */
function add({ work, unit, reach, name, values, note }) {
  const isOurs = name === "@agent/core";
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
  const tool = async () => {
    await sleep(100);
    return "done";
  };
  for (const [name, run] of Object.entries(await answering("parallel", tool, { stream: false }))) {
    const times = [];
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const before = performance.now();
      await run({ stream: false });
      if (round >= 0) times.push(performance.now() - before);
    }
    add({
      work: "8 calls of 100 ms in one turn, whole conversation",
      unit: "ms",
      reach: 112,
      name,
      values: times,
    });
  }
}

/** The time from `abort()` until the promise rejects, while a tool runs that ignores the abort. */
async function measureAbort() {
  const times = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const controller = new AbortController();
    const events = new EventEmitter();
    const tool = async () => {
      events.emit("running");
      await sleep(100);
      return "done";
    };
    const chat = ours(at("once"), tool)({ stream: false, signal: controller.signal });
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
