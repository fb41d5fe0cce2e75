// How soon others notice: a follower an event, a worker a cancellation, another worker a death.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { startRun } from "../../../packages/durable/dist/index.js";
import { quantile } from "../statistics.mjs";
import { BENCH, openEngine } from "./runs.mjs";
import { end, spawnWorker } from "./workers.mjs";

const LEASE_MS = 5000;
const CANCELLED = 50;

/** From a tool call in a worker process to its event here. */
export async function events({ report, stores }) {
  for (const { who, address } of stores()) {
    const engine = await openEngine(address);
    const worker = await spawnWorker(address, { isTold: true });
    const called = new Map();
    worker.on("message", ({ n, at }) => called.set(n, at));
    const seen = new Map();
    // The model pauses before each answer: otherwise hundreds of events are in flight at the same time.
    const id = await startRun(engine, BENCH, { turns: 300, thinkMs: 5 });
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "tool_start") seen.set(one.event.args.n, Date.now());
    }
    await sleep(100);
    const late = [...seen].filter(([n]) => called.has(n)).map(([n, at]) => at - called.get(n));
    report.add({
      work: "an event from a worker to a follower in another process, p95",
      who,
      unit: "ms",
      reach: "≤ 20",
      values: [quantile(late, 0.95)],
      note: `p50 ${quantile(late, 0.5)} ms`,
    });
    await end([worker]);
    await engine.close();
  }
}

/** From a cancellation here to the tool in a worker process that has to stop. */
export async function cancel({ report, stores }) {
  for (const { who, address } of stores()) {
    const engine = await openEngine(address);
    const worker = await spawnWorker(address, { isTold: true });
    const waits = [];
    for (let index = 0; index < CANCELLED; index++) {
      const id = await startRun(engine, BENCH, { turns: 1, tool: "wait" });
      await once(worker, "message");
      const cancelled = Date.now();
      const stopped = once(worker, "message");
      await engine.cancel(id, "measured");
      const [{ stopped: at }] = await stopped;
      waits.push(at - cancelled);
      for await (const _ of engine.events(id, { follow: true }));
    }
    report.add({
      work: "a cancellation to the tool that stops, p95",
      who,
      unit: "ms",
      values: [quantile(waits, 0.95)],
      note: `p50 ${quantile(waits, 0.5)} ms`,
    });
    await end([worker]);
    await engine.close();
  }
}

/** From SIGKILL to the next tool call in another process. */
export async function takeOver({ report, stores }) {
  for (const { who, isFiles, address } of stores()) {
    const engine = await openEngine(address);
    const waits = [];
    for (let round = 0; round < 3; round++) {
      const first = await spawnWorker(address, { leaseMs: LEASE_MS, isTold: true });
      const id = await startRun(engine, BENCH, { turns: 9000, thinkMs: 2 });
      await once(first, "message");
      const second = await spawnWorker(address, { leaseMs: LEASE_MS, isTold: true });
      const killed = Date.now();
      const next = once(second, "message");
      first.kill("SIGKILL");
      const [{ at }] = await next;
      waits.push((at - killed) / 1000);
      await engine.cancel(id, "measured");
      for await (const _ of engine.events(id, { follow: true }));
      await end([first, second]);
    }
    report.add({
      work: `kill to the next call elsewhere, lease ${LEASE_MS / 1000} s`,
      who,
      unit: "s",
      reach: isFiles ? "≤ 0.5" : "≤ 6",
      values: waits,
    });
    await engine.close();
  }
}
