import assert from "node:assert/strict";
import { CIRCUIT } from "../../engine/modelLimits.js";
import type { Pause } from "../../engine/run.js";
import { APPROVAL, DONE, entry, newRun, reached, TestWorker } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

const HOUR_MS = 3_600_000;

function pause(ms: number, more: Partial<Pause> = {}): Pause {
  return { ms, reason: { code: "provider_failed", message: "503 overloaded" }, ...more };
}

/** Cases: runs that wait for a time, failing models, and workers that are lost again and again. */
export const pauseCases: readonly EngineCase[] = [
  {
    name: "shows why and until when a run waits, and continues it with any worker",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const failures = { count: 3, since: 1000 };
      (await worker.next()).end({ state: "waiting", pause: pause(700, { failures }), ...SPENT });
      // Without a worker it keeps waiting after its time.
      await worker.close();
      await reached(other, run.id, "waiting");
      const waiting = await other.get(run.id);
      assert.equal(waiting?.wait?.reason.message, "503 overloaded");
      assert.deepEqual(waiting.failures, failures);
      assert.deepEqual(waiting.usage, SPENT.usage);
      assert.equal((await other.list({ state: "waiting" }))[0]?.wait?.until, waiting.wait.until);
      const next = await TestWorker.start(other);
      const again = await next.next();
      assert.deepEqual([again.epoch, again.run.crashes, again.run.wait], [2, 0, undefined]);
      assert.deepEqual(again.run.failures, failures);
      again.end(DONE);
      await reached(engine, run.id, "done");
      assert.equal((await engine.get(run.id))?.failures, undefined);
      await next.close();
    },
  },
  {
    name: "starts a run not before its time, unless it is retried",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const [soon, late, past] = [
        newRun({ startAt: Date.now() + 700 }),
        newRun({ startAt: Date.now() + HOUR_MS }),
        newRun({ startAt: 1000 }),
      ];
      for (const run of [soon, late]) await engine.create(run);
      const { state, wait, epoch } = (await other.get(late.id)) ?? {};
      assert.deepEqual([state, wait?.reason.code, epoch], ["waiting", "scheduled", 0]);
      assert.equal(wait?.until, late.startAt);
      await engine.create(past);
      const worker = await TestWorker.start(other);
      const begun: string[] = [];
      for (let index = 0; index < 2; index++) {
        const claim = await worker.next();
        begun.push(claim.run.id);
        if (claim.run.id === soon.id) assert.ok(Date.now() >= (soon.startAt ?? 0));
        claim.end(DONE);
      }
      assert.deepEqual(begun.sort(), [past.id, soon.id].sort());
      assert.equal(await engine.retry(late.id), true);
      const third = await worker.next();
      assert.equal(third.run.id, late.id);
      third.end(DONE);
      await reached(engine, late.id, "done");
      await worker.close();
    },
  },
  {
    name: "denies calls about which no decision was made in time, and keeps decisions that were",
    async run({ open }) {
      const engine = await open();
      const run = newRun();
      await engine.create(run);
      const first = await TestWorker.start(engine);
      const second = { ...APPROVAL, key: "1/call.b", args: { text: "\u0000 'quoted'" } };
      const expiresMs = 700;
      const before = Date.now();
      (await first.next()).end({ state: "waiting", approvals: [APPROVAL, second], expiresMs });
      // Without a worker nothing is denied, however long the rest takes.
      await first.close();
      await reached(engine, run.id, "waiting");
      const waiting = await engine.get(run.id);
      assert.ok((waiting?.expiresAt ?? 0) >= before + expiresMs);
      assert.equal(waiting?.wait, undefined);
      assert.equal(await engine.retry(run.id), false);
      assert.equal(await engine.decide(run.id, APPROVAL.key, "allow"), true);
      const worker = await TestWorker.start(engine);
      const again = await worker.next();
      assert.ok(Date.now() >= before + expiresMs);
      const [one, two] = again.run.decisions;
      assert.deepEqual([one?.decision, two?.key], ["allow", second.key]);
      assert.ok(typeof two?.decision === "object" && "deny" in two.decision && two.decision.deny !== "");
      assert.deepEqual([again.run.approvals, again.run.expiresAt], [[], undefined]);
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "counts a model call that was reserved for a run only once",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("busy", { modelCallsPerMinute: 1 });
      await engine.create(newRun({ tenant: "busy" }));
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      assert.equal(await claim.takeModelCall("p/m"), undefined);
      const reserved = await claim.takeModelCall("p/m");
      assert.ok(reserved?.hasModelCall);
      claim.end({ state: "waiting", pause: { ...reserved, ms: 1 } });
      const again = await worker.next();
      assert.equal(await again.takeModelCall("p/m"), undefined);
      assert.ok(await again.takeModelCall("p/m"));
      again.end(DONE);
      await worker.close();
    },
  },
  {
    name: "cancels a run that waits for a time, and queues one immediately when it is retried",
    async run({ open }) {
      const engine = await open();
      const [cancelled, retried] = [newRun(), newRun()];
      for (const run of [cancelled, retried]) await engine.create(run);
      const worker = await TestWorker.start(engine, { concurrency: 2 });
      for (let index = 0; index < 2; index++) {
        (await worker.next()).end({ state: "waiting", pause: pause(HOUR_MS) });
      }
      for (const { id } of [cancelled, retried]) await reached(engine, id, "waiting");
      assert.equal(await engine.cancel(cancelled.id, "no"), true);
      assert.equal((await engine.get(cancelled.id))?.wait, undefined);
      assert.equal(await engine.retry(retried.id), true);
      const again = await worker.next();
      assert.equal(again.run.id, retried.id);
      again.end(DONE);
      await reached(engine, retried.id, "done");
      await worker.close();
    },
  },
  {
    name: "keeps the limit of a tenant when its waiting runs continue",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("small", { concurrency: 1 });
      const runs = Array.from({ length: 3 }, () => newRun({ tenant: "small" }));
      for (const run of runs) await engine.create(run);
      const worker = await TestWorker.start(engine, { concurrency: 3 });
      for (let index = 0; index < runs.length; index++) {
        (await worker.next()).end({ state: "waiting", pause: pause(300) });
      }
      for (let left = runs.length; left > 0; left--) {
        const claim = await worker.next();
        assert.equal((await engine.count({ tenant: "small" })).running, 1);
        claim.end(DONE);
      }
      for (const { id } of runs) await reached(engine, id, "done");
      await worker.close();
    },
  },
  {
    name: "stops all workers from asking a model that keeps failing, until one call succeeds",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      for (let index = 0; index < 2; index++) await engine.create(newRun());
      const workers = [await TestWorker.start(engine), await TestWorker.start(other)];
      const [one, two] = await Promise.all(workers.map((worker) => worker.next()));
      assert.ok(one && two);
      for (let failures = 0; failures < CIRCUIT.openAfter; failures++) {
        assert.equal(await one.takeModelCall("acme/m"), undefined);
        await one.reportModelCall("acme/m", { retryAfterMs: HOUR_MS });
      }
      const open2 = await one.takeModelCall("acme/m");
      assert.equal(open2?.reason.code, "circuit_open");
      assert.ok(!open2.hasModelCall && open2.ms > 0);
      assert.equal((await two.takeModelCall("acme/m"))?.reason.code, "circuit_open");
      assert.equal(await two.takeModelCall("acme/other"), undefined);
      // A call that was under way when the circuit opened still succeeds.
      await one.reportModelCall("acme/m");
      assert.equal(await one.takeModelCall("acme/m"), undefined);
      one.end(DONE);
      two.end(DONE);
      await Promise.all(workers.map((worker) => worker.close()));
    },
  },
  {
    name: "does not set a run aside that completes a step between crashes",
    async run({ open }) {
      const engine = await open();
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine, { maxCrashes: 2 });
      for (let index = 0; index < 4; index++) {
        const claim = await worker.next();
        assert.ok(claim.run.crashes <= 1);
        await claim.append([entry(`step ${index}`)], []);
        claim.fail(new Error("out of memory"));
      }
      const stuck = await worker.next();
      await stuck.append([entry("version"), entry("next", "intent")], []);
      stuck.fail(new Error("no progress"));
      await reached(engine, run.id, "set_aside");
      assert.equal((await engine.get(run.id))?.crashes, 2);
      await worker.close();
    },
  },
];

const SPENT = { usage: { inputTokens: 3, outputTokens: 2 } };
