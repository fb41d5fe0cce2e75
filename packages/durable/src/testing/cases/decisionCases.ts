import assert from "node:assert/strict";
import type { RunFilter } from "../../engine/engine.js";
import { isStopped } from "../../engine/stopped.js";
import { APPROVAL, DONE, newRun, reached, TestWorker } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

/** Cases: decisions, cancellation and retry of runs. */
export const decisionCases: readonly EngineCase[] = [
  {
    name: "a run that waits for a decision is held by no one, and continues once all are made",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const second = { ...APPROVAL, key: "1/call.b" };
      (await worker.next()).end({ state: "waiting", approvals: [APPROVAL, second] });
      await reached(other, run.id, "waiting");
      assert.equal((await other.get(run.id))?.approvals.length, 2);
      assert.equal(await other.decide(run.id, "unknown", "allow"), false);
      assert.equal(await other.decide(run.id, APPROVAL.key, "allow"), true);
      assert.equal(await other.decide(run.id, APPROVAL.key, { deny: "late" }), false);
      assert.equal((await other.get(run.id))?.state, "waiting");
      assert.equal(await other.decide(run.id, second.key, { deny: "no" }), true);
      const again = await worker.next();
      assert.deepEqual(again.run.decisions, [
        { key: APPROVAL.key, name: "rm", decision: "allow", shown: APPROVAL.description },
        { key: second.key, name: "rm", decision: { deny: "no" }, shown: second.description },
      ]);
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "finds the runs that wait for a decision among those that wait for a time",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const [asks, waits] = [newRun({ tenant: "a" }), newRun({ tenant: "b" })];
      for (const run of [asks, waits]) await engine.create(run);
      const worker = await TestWorker.start(engine);
      const reason = { code: "provider_failed", message: "503 overloaded" };
      for (let index = 0; index < 2; index++) {
        const claim = await worker.next();
        if (claim.run.id === asks.id) claim.end({ state: "waiting", approvals: [APPROVAL] });
        else claim.end({ state: "waiting", pause: { ms: 3_600_000, reason } });
      }
      for (const { id } of [asks, waits]) await reached(other, id, "waiting");
      const find = async (query: RunFilter) =>
        (await other.list({ ...query, undecided: true })).map(({ id }) => id);
      assert.deepEqual(await find({}), [asks.id]);
      assert.deepEqual(await find({ state: "queued" }), []);
      assert.deepEqual(await other.forTenant("b").list({ undecided: true }), []);
      assert.equal((await other.count({ state: "waiting" })).waiting, 2);
      assert.equal((await other.count({ undecided: true })).waiting, 1);
      assert.equal((await (await open()).count({ undecided: true })).waiting, 1);
      await engine.decide(asks.id, APPROVAL.key, "allow");
      assert.deepEqual(await find({}), []);
      (await worker.next()).end(DONE);
      await worker.close();
    },
  },
  {
    name: "cancelling ends a run that waits or is queued, and notifies the worker of one that runs",
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
      (await worker.next()).end({ state: "waiting", approvals: [APPROVAL] });
      await reached(engine, waiting.id, "waiting");
      assert.equal(await other.cancel(waiting.id, "x"), true);
      assert.equal((await engine.get(waiting.id))?.state, "cancelled");
      assert.equal(await other.decide(waiting.id, APPROVAL.key, "allow"), false);
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
];
