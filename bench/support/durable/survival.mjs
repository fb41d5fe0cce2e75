// What runs cost that wait for days, and what is left of them after hundreds of deaths.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startRun } from "../../../packages/durable/dist/index.js";
import { BENCH, openEngine } from "./runs.mjs";
import { ask, end, spawnWorker } from "./workers.mjs";

const STARTS_AT_ONCE = 100;
// By then the code of a worker is compiled: its heap grows by 0.6 MB meanwhile, whatever becomes of the runs.
const WARM_UP_RUNS = 3000;
const MEGABYTE = 1024 * 1024;

/** Runs that wait for a decision: what the worker that took them there still holds of each. */
export async function approvals({ report, stores, sizes }) {
  const few = Math.ceil(sizes.waiting / 10);
  for (const { who, address } of stores()) {
    const engine = await openEngine(address);
    const worker = await spawnWorker(address, { concurrency: 8 });
    await reach(engine, "done", WARM_UP_RUNS, { turns: 1 });
    await reach(engine, "waiting", few, WAITS);
    const { bytes: before } = await ask(worker, "memory");
    await reach(engine, "waiting", sizes.waiting, WAITS);
    const { bytes: after } = await ask(worker, "memory");
    report.add({
      work: `memory of a worker with ${sizes.waiting} runs that wait for a decision, to that with ${few}`,
      who,
      unit: "×",
      reach: "≤ 1.1",
      values: [after / before],
      note: `${(after / MEGABYTE).toFixed(1)} MB; of a run that waits a process holds an index at most`,
    });
    await end([worker]);
    await engine.close();
  }
}

const WAITS = { turns: 1, ask: true };

/** Starts runs with this input until so many are in the state. */
async function reach(engine, state, wanted, input) {
  for (let there = (await engine.count())[state]; there < wanted; there += STARTS_AT_ONCE) {
    const missing = Math.min(STARTS_AT_ONCE, wanted - there);
    await Promise.all(Array.from({ length: missing }, () => startRun(engine, BENCH, input)));
  }
  while ((await engine.count())[state] < wanted) await sleep(20);
}

/** The test of survival with more runs and deaths: it fails if anything is done twice or lost. */
export async function kills({ report, servers, sizes }) {
  for (const [who, name] of [
    ["@agent/durable, files", "on files"],
    ["@agent/durable, BullMQ and Postgres", "on BullMQ and Postgres"],
  ]) {
    const started = performance.now();
    const { code, output } = await runTest(name, servers, sizes);
    const [counts = "the test ended before it counted"] = /\d+ runs, \d+ kills.*/.exec(output) ?? [];
    if (code !== 0) console.error(output);
    report.add({
      work: `${sizes.runs} runs while workers are killed: steps done twice, or runs lost`,
      who,
      unit: code === 0 ? "of them" : "(the test failed)",
      reach: "0",
      values: [code === 0 ? 0 : sizes.runs],
      note: `${counts}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
    });
  }
}

function runTest(name, servers, { runs, kills: deaths }) {
  const cwd = fileURLToPath(new URL("../../../packages/durable/", import.meta.url));
  const child = spawn("npx", ["vitest", "run", "test/kills.test.ts", "-t", name], {
    cwd,
    // Its own group, which can be killed as a whole.
    detached: true,
    env: {
      ...process.env,
      AGENT_TEST_POSTGRES: servers.postgres,
      AGENT_TEST_REDIS: servers.redis,
      AGENT_KILL_RUNS: String(runs),
      AGENT_KILLS: String(deaths),
    },
  });
  const endAll = () => process.kill(-child.pid, "SIGKILL");
  // Stop it before anything else is removed: it would keep running meanwhile.
  process.prependOnceListener("exit", endAll);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code) => {
      process.off("exit", endAll);
      resolve({ code, output });
    });
  });
}
