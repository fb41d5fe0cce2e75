import assert from "node:assert/strict";
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
