import assert from "node:assert/strict";
import { isStopped, StoppedError } from "../../engine/stopped.js";
import {
  assertLost,
  collectEvents,
  DONE,
  entry,
  newRun,
  reached,
  TestWorker,
  text,
  texts,
} from "../claims.js";
import type { EngineCase } from "../engineCase.js";

/** Cases: how workers get, hold and lose runs. */
export const workerCases: readonly EngineCase[] = [
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
    name: "a handler that fails every time gets its run set aside with the reason, and others continue",
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
    name: "a worker whose store failed returns the run, which does not count as a crash",
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
    name: "fails a run that stores something other than a JSON value, and its worker keeps it",
    async run({ open }) {
      const engine = await open();
      const run = newRun();
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      const isFaultOfRun = (error: unknown): boolean => !isStopped(error);
      await assert.rejects(claim.append([{ ...entry("a"), value: 1n }], []), isFaultOfRun);
      await assert.rejects(claim.append([], [{ type: "text", text: 1n as never }]), isFaultOfRun);
      assert.equal(claim.signal.aborted, false);
      await claim.append([entry("b")], [text("kept")]);
      assert.deepEqual(
        (await claim.journal()).map(({ key }) => key),
        ["b"],
      );
      claim.end(DONE);
      await reached(engine, run.id, "done");
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
    name: "a closing worker notifies its runs, and returns those that did not end",
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
];
