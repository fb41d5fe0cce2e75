import assert from "node:assert/strict";
import type { RunEngine } from "../engine/engine.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { collectEvents, DONE, newRun, reached, TestWorker, text, texts } from "./claims.js";

/** What an engine's tests provide. */
export interface EngineHarness {
  /** Opens the engine under test once more, on the same store, as another process would. The harness closes it. */
  open(): Promise<RunEngine>;
}

export interface EngineCase {
  readonly name: string;
  run(harness: EngineHarness): Promise<void>;
}

const approval = { key: "1/call.a", name: "rm", args: {}, capabilities: [], needs: [] } as const;
const entry = (key: string, kind: "intent" | "result" = "result") => ({ key, kind, value: key });

/** Rejects the promise it is given unless that was lost. */
async function assertLost(write: Promise<void>): Promise<void> {
  await assert.rejects(write, (error) => isStopped(error) && error.stop === "lost");
}

/**
 * What every engine has to do, as tests for any test runner. Each uses a store of its own.
 *
 * @example
 * ```ts
 * import { test } from "node:test";
 * import { createFileEngine } from "@agent/durable";
 * import { engineConformance } from "@agent/durable/testing";
 *
 * for (const { name, run } of engineConformance) test(name, () => run({ open: async () => createFileEngine("runs") }));
 * ```
 */
export const engineConformance: readonly EngineCase[] = [
  {
    name: "a run goes from queued over running to done, and any process can read it",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun({ input: { message: "hé\n\u0001" }, trace: "00-1-2-01" });
      assert.equal(await engine.create(run), true);
      const queued = await other.get(run.id);
      assert.equal(queued?.state, "queued");
      assert.deepEqual(queued.input, run.input);
      assert.equal(queued.trace, run.trace);
      const worker = await TestWorker.start(other);
      const claim = await worker.next();
      assert.equal(claim.epoch, 1);
      assert.deepEqual(claim.run.input, run.input);
      assert.equal((await engine.get(run.id))?.state, "running");
      claim.end(DONE);
      await reached(engine, run.id, "done");
      const done = await engine.get(run.id);
      assert.equal(done?.result?.text, "ok");
      assert.deepEqual(done.usage, { inputTokens: 3, outputTokens: 2 });
      assert.ok((done.endedAt ?? 0) >= (done.startedAt ?? Infinity));
      assert.equal(await engine.get("unknown"), undefined);
      await worker.close();
    },
  },
  {
    name: "the same id twice is one run, also from two processes at once",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      const created = await Promise.all([engine.create(run), other.create({ ...run, input: "other" })]);
      assert.deepEqual(created.filter(Boolean).length, 1);
      assert.equal((await engine.list()).length, 1);
    },
  },
  {
    name: "two workers never hold one run",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const ids = Array.from({ length: 20 }, () => newRun());
      for (const run of ids) await engine.create(run);
      const workers = [await TestWorker.start(engine), await TestWorker.start(other)];
      const seen = new Set<string>();
      const takeAll = async (worker: TestWorker): Promise<void> => {
        while (seen.size < ids.length) {
          const claim = await worker.next();
          assert.equal(seen.has(claim.run.id), false);
          seen.add(claim.run.id);
          claim.end(DONE);
        }
      };
      await Promise.race(workers.map(takeAll));
      for (const { id } of ids) await reached(engine, id, "done");
      await Promise.all(workers.map((worker) => worker.close()));
    },
  },
  {
    name: "journal and events of one append come back together, in order, in another process",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      await claim.append([entry("a", "intent")], [text("1"), text("2")]);
      await claim.append([entry("a"), entry("b")], []);
      await claim.append([], [text("3")]);
      claim.end({ state: "queued" });
      const again = await worker.next();
      assert.equal(again.epoch, 2);
      const keys = (await again.journal()).map(({ key, kind }) => `${key} ${kind}`);
      assert.deepEqual(keys.slice(-2), ["a result", "b result"]);
      await again.append([], [text("4")]);
      const events = await collectEvents(other.events(run.id));
      assert.deepEqual(texts(events), ["1", "2", "3", "4"]);
      const { cursor } = events[1] ?? {};
      assert.deepEqual(texts(await collectEvents(other.events(run.id, { after: cursor ?? "" }))), ["3", "4"]);
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "a follower in another process sees every event once, across a change of workers, and the end",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const followed = collectEvents(other.events(run.id, { follow: true }));
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      for (let index = 0; index < 20; index++) await claim.append([], [text(`${index} `)]);
      claim.end({ state: "queued" });
      const again = await worker.next();
      for (let index = 20; index < 40; index++) await again.append([], [text(`${index} `)]);
      again.end(DONE);
      const events = await followed;
      assert.deepEqual(
        texts(events),
        Array.from({ length: 40 }, (_, index) => `${index} `),
      );
      const last = events.at(-1);
      assert.equal(last && "run" in last ? last.run.state : undefined, "done");
      await worker.close();
    },
  },
  {
    name: "a follower stops when it is told to, and one of an unknown run ends at once",
    async run({ open }) {
      const engine = await open();
      assert.deepEqual(await collectEvents(engine.events("unknown", { follow: true })), []);
      const run = newRun();
      await engine.create(run);
      const stop = new AbortController();
      const events = engine.events(run.id, { follow: true, signal: stop.signal });
      for await (const one of events) if ("run" in one) stop.abort();
    },
  },
  {
    name: "a run that waits for a decision is held by nobody, and goes on once all are made",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const second = { ...approval, key: "1/call.b" };
      (await worker.next()).end({ state: "waiting", approvals: [approval, second] });
      await reached(other, run.id, "waiting");
      assert.equal((await other.get(run.id))?.approvals.length, 2);
      assert.equal(await other.decide(run.id, "unknown", "allow"), false);
      assert.equal(await other.decide(run.id, approval.key, "allow"), true);
      assert.equal(await other.decide(run.id, approval.key, { deny: "late" }), false);
      assert.equal((await other.get(run.id))?.state, "waiting");
      assert.equal(await other.decide(run.id, second.key, { deny: "no" }), true);
      const again = await worker.next();
      assert.deepEqual(again.run.decisions, [
        { key: approval.key, name: "rm", decision: "allow" },
        { key: second.key, name: "rm", decision: { deny: "no" } },
      ]);
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "cancelling ends a run that waits or is queued, and tells the worker of one that runs",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const [queued, waiting, running] = [newRun(), newRun(), newRun()];
      await engine.create(queued);
      assert.equal(await other.cancel(queued.id, "not needed"), true);
      assert.deepEqual((await engine.get(queued.id))?.error, { code: "cancelled", message: "not needed" });
      assert.equal(await other.cancel(queued.id, "again"), false);
      assert.equal(await other.cancel("unknown", "x"), false);
      await engine.create(waiting);
      const worker = await TestWorker.start(engine);
      (await worker.next()).end({ state: "waiting", approvals: [approval] });
      await reached(engine, waiting.id, "waiting");
      assert.equal(await other.cancel(waiting.id, "x"), true);
      assert.equal((await engine.get(waiting.id))?.state, "cancelled");
      assert.equal(await other.decide(waiting.id, approval.key, "allow"), false);
      await engine.create(running);
      const claim = await worker.next();
      assert.equal(await other.cancel(running.id, "stop it"), true);
      await new Promise((resolve) => claim.signal.addEventListener("abort", resolve));
      const { reason } = claim.signal;
      assert.ok(isStopped(reason) && reason.stop === "cancelled");
      assert.equal(reason.message, "stop it");
      claim.end({ state: "cancelled", error: { code: "cancelled", message: "stop it" } });
      await reached(engine, running.id, "cancelled");
      await worker.close();
    },
  },
  {
    name: "a failed run keeps its reason, and a retry goes on with its journal",
    async run({ open }) {
      const engine = await open();
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      await claim.append([entry("a")], []);
      claim.end({ state: "failed", error: { code: "provider_failed", message: "no credit" } });
      await reached(engine, run.id, "failed");
      assert.equal((await engine.get(run.id))?.error?.message, "no credit");
      assert.equal(await engine.retry(run.id), true);
      const again = await worker.next();
      assert.ok((await again.journal()).some(({ key }) => key === "a"));
      again.end(DONE);
      await reached(engine, run.id, "done");
      assert.equal(await engine.retry(run.id), false);
      assert.equal((await engine.get(run.id))?.error, undefined);
      await worker.close();
    },
  },
  {
    name: "a handler that fails every time gets its run set aside with the reason, and others go on",
    async run({ open }) {
      const engine = await open();
      const poison = newRun();
      await engine.create(poison);
      const worker = await TestWorker.start(engine, { maxCrashes: 2 });
      (await worker.next()).fail(new Error("first"));
      (await worker.next()).fail(new Error("boom"));
      await reached(engine, poison.id, "set_aside");
      const { error, crashes } = (await engine.get(poison.id)) ?? {};
      assert.equal(crashes, 2);
      assert.match(error?.message ?? "", /boom/);
      const fine = newRun();
      await engine.create(fine);
      (await worker.next()).end(DONE);
      await reached(engine, fine.id, "done");
      await worker.close();
    },
  },
  {
    name: "a worker whose store failed gives the run back without a crash",
    async run({ open }) {
      const engine = await open();
      await engine.create(newRun());
      const worker = await TestWorker.start(engine);
      (await worker.next()).fail(new StoppedError("lost"));
      const again = await worker.next();
      assert.equal(again.run.crashes, 0);
      assert.equal(again.epoch, 2);
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "after its claim has ended, a worker cannot write",
    async run({ open }) {
      const engine = await open();
      await engine.create(newRun());
      const worker = await TestWorker.start(engine);
      const old = await worker.next();
      await old.append([entry("kept")], []);
      old.end({ state: "queued" });
      const now = await worker.next();
      await assertLost(old.append([entry("stale")], [text("stale")]));
      assert.ok(!(await now.journal()).some(({ key }) => key === "stale"));
      assert.deepEqual(texts(await collectEvents(engine.events(now.run.id))), []);
      now.end(DONE);
      await worker.close();
    },
  },
  {
    name: "a worker gets only runs of its definitions and labels",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const pinned = newRun({ labels: ["gpu", "workspace:shop"] });
      const strange = newRun({ definition: "other" });
      const plain = newRun();
      for (const run of [pinned, strange, plain]) await engine.create(run);
      const worker = await TestWorker.start(engine, { labels: ["gpu"], concurrency: 3 });
      const claim = await worker.next();
      assert.equal(claim.run.id, plain.id);
      const fitting = await TestWorker.start(other, { labels: ["workspace:shop", "gpu", "more"] });
      const second = await fitting.next();
      assert.equal(second.run.id, pinned.id);
      claim.end(DONE);
      second.end(DONE);
      await reached(engine, pinned.id, "done");
      assert.equal(worker.waiting, 0);
      assert.equal((await engine.get(strange.id))?.state, "queued");
      await worker.close();
      await fitting.close();
    },
  },
  {
    name: "no tenant runs more than its limit, on all workers together",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.setLimits("small", { concurrency: 2 });
      assert.deepEqual(await other.getLimits("small"), { concurrency: 2 });
      assert.deepEqual(await other.getLimits("nobody"), {});
      const runs = Array.from({ length: 6 }, () => newRun({ tenant: "small" }));
      for (const run of runs) await engine.create(run);
      const workers = [
        await TestWorker.start(engine, { concurrency: 4 }),
        await TestWorker.start(other, { concurrency: 4 }),
      ];
      let running = 0;
      let most = 0;
      let ended = 0;
      const work = async (worker: TestWorker): Promise<void> => {
        while (ended < runs.length) {
          const claim = await worker.next();
          most = Math.max(most, ++running);
          await claim.append([entry("a")], []);
          const counts = await other.count({ tenant: "small" });
          assert.ok(counts.running <= 2, `${counts.running} of a tenant with a limit of 2 are running`);
          running--;
          ended++;
          claim.end(DONE);
        }
      };
      await Promise.race(workers.map(work));
      for (const { id } of runs) await reached(engine, id, "done");
      assert.ok(most <= 2);
      await Promise.all(workers.map((worker) => worker.close()));
    },
  },
  {
    name: "a tenant with many runs does not delay another's",
    async run({ open }) {
      const engine = await open();
      for (let index = 0; index < 30; index++) await engine.create(newRun({ tenant: "flood" }));
      const single = newRun({ tenant: "single" });
      await engine.create(single);
      const worker = await TestWorker.start(engine);
      const order: string[] = [];
      while (!order.includes("single")) {
        const claim = await worker.next();
        order.push(claim.run.tenant);
        claim.end(DONE);
      }
      assert.ok(order.length <= 5, `its turn came after ${order.length} runs`);
      const closing = worker.close();
      while (worker.waiting > 0) (await worker.next()).end({ state: "queued" });
      await closing;
    },
  },
  {
    name: "model calls of a tenant are limited, with the time to wait for the next",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("busy", { modelCallsPerMinute: 2 });
      await engine.create(newRun({ tenant: "busy" }));
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      const waits = [];
      for (let index = 0; index < 3; index++) waits.push(await claim.takeModelCall());
      assert.deepEqual(waits.slice(0, 2), [0, 0]);
      const [, , wait = 0] = waits;
      assert.ok(wait > 0 && wait <= 30_000, `${wait} ms`);
      await engine.setLimits("busy", {});
      assert.equal(await claim.takeModelCall(), 0);
      claim.end(DONE);
      await worker.close();
    },
  },
  {
    name: "a closing worker tells its runs, and gives back those that did not end",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.create(newRun());
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      const closing = worker.close();
      assert.ok(isStopped(claim.signal.reason) && claim.signal.reason.stop === "closing");
      await claim.append([entry("last")], []);
      claim.end({ state: "queued" });
      await closing;
      const next = await TestWorker.start(other);
      const again = await next.next();
      assert.ok((await again.journal()).some(({ key }) => key === "last"));
      assert.equal(again.run.crashes, 0);
      again.end(DONE);
      await next.close();
    },
  },
  {
    name: "lists, counts and activity tell what there is; prune removes only what ended before",
    async run({ open }) {
      const engine = await open();
      const [first, second, third] = [
        newRun({ tenant: "a" }),
        newRun({ tenant: "b" }),
        newRun({ tenant: "b" }),
      ];
      const since = Date.now() - 1000;
      for (const run of [first, second]) await engine.create(run);
      const worker = await TestWorker.start(engine);
      for (let index = 0; index < 2; index++) (await worker.next()).end(DONE);
      for (const { id } of [first, second]) await reached(engine, id, "done");
      await worker.close();
      await engine.create(third);
      assert.deepEqual(
        (await engine.list()).map(({ id }) => id),
        [third.id, second.id, first.id],
      );
      assert.deepEqual(
        (await engine.list({ tenant: "b", state: "done", limit: 5 })).map(({ id }) => id),
        [second.id],
      );
      assert.equal((await engine.list({ limit: 1 })).length, 1);
      const counts = await engine.count({ tenant: "b" });
      assert.deepEqual([counts.done, counts.queued, counts.failed], [1, 1, 0]);
      const activity = await engine.activity(since, 60_000);
      assert.equal(activity.at(0)?.done, 2);
      assert.equal(activity.at(0)?.started, 2);
      assert.equal(await engine.prune(since), 0);
      assert.equal(await engine.prune(Date.now() + 1000), 2);
      assert.equal(await engine.get(first.id), undefined);
      assert.deepEqual(await collectEvents(engine.events(first.id)), []);
      assert.deepEqual(
        (await engine.list()).map(({ id }) => id),
        [third.id],
      );
    },
  },
];
