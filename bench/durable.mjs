// What a journal costs, and how soon a run goes on. Run, after `pnpm build`: pnpm bench durable [rounds] [queued]
// Postgres and Redis are started by this program; they need Debian's packages postgresql and redis-server.
// The journal's cost is the time of a run of 50 turns less that of the same run without a journal, right before it.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startRun, startWorker } from "../packages/durable/dist/index.js";
import { createAgent, definition, openEngine, STEPS_PER_TURN } from "./support/durableRuns.mjs";
import { createReport } from "./support/report.mjs";
import { startServers } from "./support/servers.mjs";
import { quantile } from "./support/statistics.mjs";

const [rounds = "15", queued = "100000", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
const QUEUED = Number(queued);
const TURNS = 50;
const WORKER = fileURLToPath(new URL("support/durableWorker.mjs", import.meta.url));

const report = createReport("durable", "Runs that survive, beside the agent alone and LangGraph");
const servers = await startServers();
const folder = mkdtempSync(join(tmpdir(), "agent-bench-runs-"));
let number = 0;
const fileAddress = () => `files:${join(folder, String(number++))}`;
const bullmqAddress = () =>
  JSON.stringify({ postgres: servers.postgres, redis: servers.redis, schema: `bench_${number++}` });

const parts = { overhead, langgraph, throughput, claim, takeOver, events };
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure();
  }
  report.save({ isPartial: wanted.length > 0 });
} finally {
  servers.stop();
  rmSync(folder, { recursive: true, force: true });
}

function spawnWorker(address, concurrency, leaseMs, env = {}) {
  return fork(WORKER, [address, String(concurrency), String(leaseMs)], { env: { ...process.env, ...env } });
}

async function ended(engine, id) {
  for await (const one of engine.events(id, { follow: true })) {
    if ("run" in one && one.run.state === "done") return;
  }
}

/** One run at a time in this process: what the journal adds to a step. */
async function overhead() {
  for (const [who, address, reach] of [
    ["files", fileAddress(), "≤ 0.5"],
    ["BullMQ and Postgres", bullmqAddress(), "≤ 1.0"],
  ]) {
    const engine = await openEngine(address);
    const spent = [];
    let started = 0;
    let finished = 0;
    const timed = definition((n) => {
      if (n === 0) started = performance.now();
      if (n === TURNS - 1) finished = performance.now();
    });
    const worker = await startWorker(engine, { definitions: [timed], concurrency: 1 });
    for (let round = -2; round < ROUNDS; round++) {
      let before = 0;
      let after = 0;
      const agent = createAgent(TURNS, {}, (n) => {
        if (n === 0) before = performance.now();
        if (n === TURNS - 1) after = performance.now();
      });
      await agent.chat("go");
      await ended(engine, await startRun(engine, timed, { turns: TURNS }));
      const steps = (TURNS - 1) * STEPS_PER_TURN;
      if (round >= 0) spent.push((finished - started - (after - before)) / steps);
    }
    report.add({
      work: "a step, over the agent alone",
      who: `@agent/durable, ${who}`,
      unit: "ms",
      reach,
      values: spent,
    });
    await worker.close();
    await engine.close();
  }
}

/** The same steps as a graph of two nodes, each saved by its checkpointer before the next. */
async function langgraph() {
  const { Annotation, StateGraph } = await import("@langchain/langgraph");
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(servers.postgres);
  await saver.setup();
  const State = Annotation.Root({
    messages: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
    turn: Annotation({ reducer: (_, turn) => turn, default: () => 0 }),
  });
  const graph = (checkpointer) =>
    new StateGraph(State)
      .addNode("model", ({ turn }) => ({ messages: [{ role: "assistant", call: turn }] }))
      .addNode("tool", ({ turn }) => ({
        messages: [{ role: "tool", text: `wrote ${turn}` }],
        turn: turn + 1,
      }))
      .addEdge("__start__", "model")
      .addEdge("model", "tool")
      .addConditionalEdges("tool", ({ turn }) => (turn < TURNS ? "model" : "__end__"))
      .compile(checkpointer ? { checkpointer } : {});
  const [plain, saved] = [graph(), graph(saver)];
  const spent = [];
  for (let round = -1; round < Math.max(3, ROUNDS / 3); round++) {
    const time = async (run) => {
      const before = performance.now();
      await run();
      return performance.now() - before;
    };
    const alone = await time(() => plain.invoke({}, { recursionLimit: 1000 }));
    const configurable = { thread_id: `bench-${round}` };
    const journaled = await time(() =>
      saved.invoke({}, { recursionLimit: 1000, durability: "sync", configurable }),
    );
    if (round >= 0) spent.push((journaled - alone) / (TURNS * STEPS_PER_TURN));
  }
  await saver.end();
  report.add({
    work: "a step, over the agent alone",
    who: "LangGraph, PostgresSaver",
    unit: "ms",
    values: spent,
  });
}

/** Two worker processes, many runs of ten turns. */
async function throughput() {
  for (const [who, address, reach] of [
    ["files", fileAddress(), "≥ 1500"],
    ["BullMQ and Postgres", bullmqAddress(), "≥ 1500"],
  ]) {
    const engine = await openEngine(address);
    const runs = 200;
    const turns = 10;
    for (let index = 0; index < runs; index++)
      await startRun(engine, { name: "bench", version: "1" }, { turns });
    const workers = [spawnWorker(address, 8, 10_000), spawnWorker(address, 8, 10_000)];
    await Promise.all(workers.map((worker) => once(worker, "message")));
    const before = performance.now();
    const { done: early } = await engine.count();
    for (;;) {
      const { done } = await engine.count();
      if (done === runs) break;
      await sleep(10);
    }
    const seconds = (performance.now() - before) / 1000;
    const steps = (runs - early) * (turns * STEPS_PER_TURN + 1);
    report.add({
      work: "steps with two workers",
      who: `@agent/durable, ${who}`,
      unit: "steps/s",
      reach,
      values: [steps / seconds],
    });
    for (const worker of workers) worker.kill("SIGKILL");
    await engine.close();
  }
}

/** The time from one ended run to the next claim, with a long queue. */
async function claim() {
  for (const [who, address] of [
    ["files", fileAddress()],
    ["BullMQ and Postgres", bullmqAddress()],
  ]) {
    const engine = await openEngine(address);
    const atOnce = 100;
    for (let index = 0; index < QUEUED; index += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, () => startRun(engine, { name: "bench", version: "1" }, { turns: 1 })),
      );
    }
    const waits = [];
    let last = 0;
    let enough = () => undefined;
    const measured = new Promise((resolve) => {
      enough = resolve;
    });
    const worker = await engine.work(
      async () => {
        const now = performance.now();
        if (last > 0) waits.push(now - last);
        if (waits.length === 300) enough();
        last = performance.now();
        return { state: "done", result: { text: "", finishReason: "stop", turns: 1 } };
      },
      {
        name: "claims",
        concurrency: 1,
        definitions: ["bench"],
        labels: [],
        leaseMs: 10_000,
        maxCrashes: 5,
        onFault: () => undefined,
      },
    );
    await measured;
    await worker.close();
    report.add({
      work: `end a run and claim the next, ${QUEUED} queued, p95`,
      who: `@agent/durable, ${who}`,
      unit: "ms",
      reach: "≤ 10",
      values: [quantile(waits, 0.95)],
    });
    await engine.close();
  }
}

/** From SIGKILL to the next tool call in another process. */
async function takeOver() {
  for (const [who, address, reach, leaseMs] of [
    ["files", fileAddress(), "≤ 0.5", 5000],
    ["BullMQ and Postgres, lease 5 s", bullmqAddress(), "≤ 6", 5000],
  ]) {
    const engine = await openEngine(address);
    const waits = [];
    for (let round = 0; round < 3; round++) {
      const first = spawnWorker(address, 1, leaseMs, { TELL_CALLS: "1" });
      await once(first, "message");
      await startRun(engine, { name: "bench", version: "1" }, { turns: 3000 });
      await once(first, "message");
      const second = spawnWorker(address, 1, leaseMs, { TELL_CALLS: "1" });
      await once(second, "message");
      const killed = Date.now();
      first.kill("SIGKILL");
      const [{ at }] = await once(second, "message");
      waits.push((at - killed) / 1000);
      second.kill("SIGKILL");
      for (const { id } of await engine.list()) await engine.cancel(id, "measured");
    }
    report.add({
      work: "kill to the next call elsewhere",
      who: `@agent/durable, ${who}`,
      unit: "s",
      reach,
      values: waits,
    });
    await engine.close();
  }
}

/** From a tool call in a worker process to its event here. */
async function events() {
  for (const [who, address] of [
    ["files", fileAddress()],
    ["BullMQ and Postgres", bullmqAddress()],
  ]) {
    const engine = await openEngine(address);
    const worker = spawnWorker(address, 1, 10_000, { TELL_CALLS: "1" });
    await once(worker, "message");
    const called = new Map();
    worker.on("message", ({ n, at }) => called.set(n, at));
    const seen = new Map();
    const id = await startRun(engine, { name: "bench", version: "1" }, { turns: 300 });
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "tool_start") seen.set(one.event.args.n, Date.now());
    }
    await sleep(100);
    const late = [...seen].filter(([n]) => called.has(n)).map(([n, at]) => at - called.get(n));
    report.add({
      work: "an event from a worker to a follower in another process, p95",
      who: `@agent/durable, ${who}`,
      unit: "ms",
      reach: "≤ 20",
      values: [quantile(late, 0.95)],
    });
    worker.kill("SIGKILL");
    await engine.close();
  }
}
