import assert from "node:assert/strict";
import { APPROVAL, collectEvents, DONE, entry, newRun, reached, TestWorker } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

/** Cases: limits of tenants, and that no tenant starves. */
export const tenantCases: readonly EngineCase[] = [
  {
    name: "gives a tenant access to its own runs only",
    async run({ open }) {
      const engine = await open();
      const [own, foreign] = [newRun({ tenant: "acme" }), newRun({ tenant: "evil" })];
      const acme = engine.forTenant("acme");
      assert.equal(await acme.create(own), true);
      await assert.rejects(acme.create({ ...foreign }));
      await engine.create(foreign);
      assert.equal((await acme.get(own.id))?.id, own.id);
      assert.equal(await acme.get(foreign.id), undefined);
      assert.deepEqual(
        (await acme.list()).map(({ id }) => id),
        [own.id],
      );
      await assert.rejects(acme.list({ tenant: "evil" }));
      await assert.rejects(acme.count({ tenant: "evil" }));
      assert.equal((await acme.count()).queued, 1);
      assert.deepEqual(await collectEvents(acme.events(foreign.id, { follow: true })), []);
      assert.equal(await acme.cancel(foreign.id, "mine now"), false);
      const worker = await TestWorker.start(engine);
      for (let index = 0; index < 2; index++) {
        const claim = await worker.next();
        const isForeign = claim.run.id === foreign.id;
        claim.end(isForeign ? { state: "waiting", approvals: [APPROVAL] } : DONE);
      }
      await reached(engine, foreign.id, "waiting");
      await reached(engine, own.id, "done");
      assert.equal(await acme.decide(foreign.id, APPROVAL.key, "allow"), false);
      assert.equal(await engine.cancel(foreign.id, "no"), true);
      assert.equal(await acme.retry(foreign.id), false);
      const ended = (await acme.activity(Date.now() - 60_000, 120_000)).at(0);
      assert.deepEqual([ended?.done, ended?.cancelled, ended?.started, ended?.cost], [1, 0, 1, 0.25]);
      await worker.close();
    },
  },
  {
    name: "no tenant runs more than its limit, on all workers together",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.setLimits("small", { concurrency: 2 });
      assert.deepEqual(await other.getLimits("small"), { concurrency: 2 });
      assert.deepEqual(await other.getLimits("no one"), {});
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
    name: "limits the model calls of a tenant within any minute, and reserves the next one",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("busy", { modelCallsPerMinute: 2 });
      await engine.create(newRun({ tenant: "busy" }));
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      const pauses = [];
      const before = performance.now();
      for (let index = 0; index < 5; index++) pauses.push(await claim.takeModelCall("p/m"));
      assert.deepEqual(pauses.slice(0, 2), [undefined, undefined]);
      const [third, fourth, fifth] = pauses.slice(2);
      for (const pause of [third, fourth, fifth]) {
        assert.equal(pause?.reason.code, "rate_limited");
        assert.equal(pause.hasModelCall, true);
      }
      // Two calls fit into each minute, so the fifth waits for the minute after the next.
      const took = performance.now() - before;
      for (const [pause, minutes] of [
        [third, 1],
        [fourth, 1],
        [fifth, 2],
      ] as const) {
        const most = minutes * 60_000;
        assert.ok(
          pause && pause.ms >= most - took - 1000 && pause.ms <= most,
          `${pause?.ms} ms after ${took} ms`,
        );
      }
      await engine.setLimits("busy", {});
      assert.equal(await claim.takeModelCall("p/m"), undefined);
      claim.end(DONE);
      await worker.close();
    },
  },
  {
    name: "limits the calls of a provider, of a model and of all, whichever tenant makes them",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.setRate("acme", 3);
      await engine.setRate("acme/large", 1);
      assert.deepEqual(await other.getRates(), { acme: 3, "acme/large": 1 });
      for (const tenant of ["a", "b"]) await engine.create(newRun({ tenant }));
      const worker = await TestWorker.start(other, { concurrency: 2 });
      const [one, two] = [await worker.next(), await worker.next()];
      assert.equal(await one.takeModelCall("acme/large"), undefined);
      assert.match((await two.takeModelCall("acme/large"))?.reason.message ?? "", /to acme\/large/);
      assert.equal(await two.takeModelCall("acme/small"), undefined);
      assert.match((await one.takeModelCall("acme/small"))?.reason.message ?? "", /to acme /);
      assert.equal(await one.takeModelCall("other/model"), undefined);
      await engine.setRate("acme", undefined);
      await engine.setRate("acme/large", undefined);
      await engine.setRate("*", 1);
      assert.deepEqual(await other.getRates(), { "*": 1 });
      one.end(DONE);
      two.end(DONE);
      await worker.close();
    },
  },
  {
    name: "gives the slot of a run that waits for a limit to another tenant, and continues it when the limit is lifted",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("busy", { modelCallsPerMinute: 1 });
      const [first, second] = [newRun({ tenant: "busy" }), newRun({ tenant: "free" })];
      await engine.create(first);
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      assert.equal(await claim.takeModelCall("p/m"), undefined);
      const pause = await claim.takeModelCall("p/m");
      assert.ok(pause);
      await engine.create(second);
      claim.end({ state: "waiting", pause });
      const other = await worker.next();
      assert.equal(other.run.id, second.id);
      const { state, wait, worker: holder } = (await engine.get(first.id)) ?? {};
      assert.deepEqual([state, wait?.reason.code, holder !== undefined], ["waiting", "rate_limited", true]);
      assert.ok((wait?.until ?? 0) > Date.now());
      other.end(DONE);
      await engine.setLimits("busy", { modelCallsPerMinute: 1000 });
      const again = await worker.next();
      assert.equal(again.run.id, first.id);
      assert.equal((await engine.get(first.id))?.wait, undefined);
      again.end(DONE);
      await worker.close();
    },
  },
];
