// How much workers get done, and how long a queue may be.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startRun } from "../../../packages/durable/dist/index.js";
import { quantile } from "../statistics.mjs";
import { BENCH, openEngine, STEPS_PER_TURN } from "./runs.mjs";
import { end, spawnWorker } from "./workers.mjs";

const STARTS_AT_ONCE = 100;
const TICK_MS = 10;

/** Two worker processes, 400 runs of ten turns and no model to wait for. */
export async function throughput({ report, stores }) {
  for (const { who, address } of stores()) {
    const { perSecond, cpuMs } = await execute(address, { workers: 2, concurrency: 8, runs: 400, turns: 10 });
    report.add({
      work: "steps with two workers",
      who,
      unit: "steps/s",
      reach: "≥ 1500",
      values: [perSecond],
      note: `${cpuMs.toFixed(2)} ms of CPU of the workers a step`,
    });
  }
}

/** One to eight worker processes with four runs at a time each, and a model that takes 50 ms to answer. */
export async function scaling({ report, stores }) {
  for (const workers of [1, 2, 4, 8]) {
    for (const { who, address } of stores()) {
      const work = { workers, concurrency: 4, runs: 24 * workers, turns: 10, thinkMs: 50 };
      const { perSecond } = await execute(address, work);
      report.add({
        work: `steps with ${workers} ${workers === 1 ? "worker" : "workers"} of 4 runs at a time, a model of 50 ms`,
        who,
        unit: "steps/s",
        values: [perSecond],
      });
    }
  }
}

/** Measured between the first and the last sixth of the runs, which leaves out the start of the processes and the tail. */
async function execute(address, { workers, concurrency, runs, ...input }) {
  const engine = await openEngine(address);
  await Promise.all(Array.from({ length: runs }, () => startRun(engine, BENCH, input)));
  const processes = await Promise.all(
    Array.from({ length: workers }, () => spawnWorker(address, { concurrency })),
  );
  const reach = async (share) => {
    for (;;) {
      const { done } = await engine.count();
      if (done >= runs * share) return { done, at: performance.now(), cpuMs: usedCpu(processes) };
      await sleep(20);
    }
  };
  const [first, last] = [await reach(1 / 6), await reach(5 / 6)];
  const steps = (last.done - first.done) * (input.turns * STEPS_PER_TURN + 1);
  await end(processes);
  await engine.close();
  return {
    perSecond: (steps / (last.at - first.at)) * 1000,
    cpuMs: (last.cpuMs - first.cpuMs) / steps,
  };
}

/** CPU time of the processes from the kernel: a busy process would not answer a request. */
function usedCpu(processes) {
  const ticks = processes.map(({ pid }) => {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS;
}

/** The time from one ended run to the next claim, with a long queue. */
export async function claim({ report, stores, sizes }) {
  for (const { who, address } of stores()) {
    const engine = await openEngine(address);
    // A worker that was there when the queue was short has to stay fast when it is long.
    await start(engine, 100);
    await claimWaits(engine, 50);
    const filling = performance.now();
    await start(engine, sizes.queued);
    const startsPerSecond = (sizes.queued / (performance.now() - filling)) * 1000;
    const waits = await claimWaits(engine, 500);
    report.add({
      work: `end a run and claim the next, ${sizes.queued} queued, p95`,
      who,
      unit: "ms",
      reach: "≤ 10",
      values: [quantile(waits, 0.95)],
      note: `p50 ${quantile(waits, 0.5).toFixed(1)} ms`,
    });
    report.add({
      work: `starts of runs, ${STARTS_AT_ONCE} at a time`,
      who,
      unit: "runs/s",
      values: [startsPerSecond],
    });
    await engine.close();
  }
}

async function start(engine, runs) {
  for (let index = 0; index < runs; index += STARTS_AT_ONCE) {
    await Promise.all(Array.from({ length: STARTS_AT_ONCE }, () => startRun(engine, BENCH, { turns: 1 })));
  }
}

async function claimWaits(engine, samples) {
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
      if (waits.length === samples) enough();
      last = performance.now();
      return { state: "done", result: { text: "", finishReason: "stop", turns: 1 } };
    },
    {
      name: "claims",
      concurrency: 1,
      definitions: [BENCH.name],
      labels: [],
      leaseMs: 10_000,
      maxCrashes: 5,
      onFault: () => undefined,
    },
  );
  await measured;
  await worker.close();
  return waits.slice(0, samples);
}
