import assert from "node:assert/strict";
import type { ClaimEnding } from "../../engine/engine.js";
import { type Overlap, type Schedule, scheduleRun, startDue } from "../../engine/schedule.js";
import { forkRun, stepsOf } from "../../journal/forkRun.js";
import { APPROVAL, DONE, entry, newRun, reached, TestWorker } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

const HOUR_MS = 3_600_000;

const fail = (error: unknown): never => {
  throw error;
};

function schedule(id: string, overlap: Overlap): Omit<Schedule, "nextAt"> {
  const { id: _, ...run } = newRun({ tenant: "acme", title: id });
  return { id, cron: "0 9 * * *", timeZone: "Europe/Berlin", overlap, run };
}

/** Cases: what operators do with many runs. */
export const operatorCases: readonly EngineCase[] = [
  {
    name: "sends messages to a run that waits or runs, continues one that is done, and refuses one that failed",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      assert.equal(await other.send(run.id, "first \u0000"), true);
      const worker = await TestWorker.start(engine);
      const claim = await worker.next();
      assert.deepEqual(claim.messages, ["first \u0000"]);
      assert.equal(await other.send(run.id, "second"), true);
      // The worker had not seen the second one.
      claim.end({ ...DONE, messages: 1 } as ClaimEnding);
      const again = await worker.next();
      assert.deepEqual([again.run.id, again.epoch, again.messages.length], [run.id, 2, 2]);
      again.end({ ...DONE, messages: 2 } as ClaimEnding);
      await reached(engine, run.id, "done");
      assert.equal(await other.send(run.id, "third"), true);
      const third = await worker.next();
      assert.deepEqual(third.run.messages, ["first \u0000", "second", "third"]);
      assert.equal((await engine.get(run.id))?.endedAt, undefined);
      third.end({ state: "failed", error: { code: "failed", message: "no" } });
      await reached(engine, run.id, "failed");
      assert.equal(await other.send(run.id, "fourth"), false);
      assert.equal(await other.send("unknown", "hello"), false);
      assert.equal(await engine.forTenant("evil").send(run.id, "hello"), false);
      await worker.close();
    },
  },
  {
    name: "notifies the worker of a message to a run that is running",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.create(newRun());
      const worker = await TestWorker.start(engine, { leaseMs: 9000 });
      const claim = await worker.next();
      assert.deepEqual(claim.messages, []);
      await other.send(claim.run.id, "hurry");
      while (claim.messages.length === 0) await claim.append([], []);
      assert.deepEqual(claim.messages, ["hurry"]);
      claim.end({ ...DONE, messages: 1 } as ClaimEnding);
      await reached(other, claim.run.id, "done");
      await worker.close();
    },
  },
  {
    name: "forks a run from a step, with its decisions, and leaves the original as it is",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun({ title: "original" });
      await engine.create(run);
      const worker = await TestWorker.start(engine);
      const first = await worker.next();
      await first.append([entry("1/answer.1"), entry(APPROVAL.key, "intent")], []);
      first.end({ state: "waiting", approvals: [APPROVAL] });
      await reached(engine, run.id, "waiting");
      await engine.decide(run.id, APPROVAL.key, "allow");
      const second = await worker.next();
      await second.append([entry(APPROVAL.key), entry("2/answer.1")], []);
      second.end(DONE);
      await reached(engine, run.id, "done");
      const steps = stepsOf(await other.journal(run.id));
      assert.deepEqual(
        steps.map(({ number, key }) => [number, key]),
        [
          [1, "1/answer.1"],
          [2, APPROVAL.key],
          [3, "2/answer.1"],
        ],
      );
      const id = await forkRun(other, run.id, { steps: 2 });
      const forked = await worker.next();
      assert.equal(forked.run.id, id);
      assert.deepEqual([forked.run.forkedFrom, forked.run.title], [run.id, "original"]);
      assert.deepEqual(forked.run.input, run.input);
      assert.deepEqual(
        forked.run.decisions.map(({ key }) => key),
        [APPROVAL.key],
      );
      assert.deepEqual(
        (await forked.journal()).filter(({ kind }) => kind === "result").map(({ key }) => key),
        ["1/answer.1", APPROVAL.key],
      );
      await forked.append([entry("2/answer.1")], []);
      assert.equal((await forked.journal()).at(-1)?.key, "2/answer.1");
      forked.end(DONE);
      await reached(engine, id, "done");
      assert.equal((await engine.journal(run.id)).length, 4);
      await assert.rejects(forkRun(engine, run.id, { steps: 9 }), /from 0 to 3/);
      await assert.rejects(forkRun(engine, "unknown"), /There is no run/);
      assert.deepEqual(await engine.forTenant("evil").journal(run.id), []);
      await worker.close();
    },
  },
  {
    name: "claims no run of a tenant that is paused, nor any while all are, and continues afterwards",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      await engine.setPaused("slow", true);
      await engine.setPaused("slow", true);
      assert.deepEqual(await other.getPaused(), ["slow"]);
      const [paused, free] = [newRun({ tenant: "slow" }), newRun({ tenant: "free" })];
      for (const run of [paused, free]) await engine.create(run);
      const worker = await TestWorker.start(other, { concurrency: 2 });
      const claim = await worker.next();
      assert.equal(claim.run.id, free.id);
      await other.setPaused("*", true);
      claim.end(DONE);
      await reached(engine, free.id, "done");
      const late = newRun({ tenant: "free" });
      await engine.create(late);
      await engine.setPaused("slow", false);
      assert.deepEqual(await other.getPaused(), ["*"]);
      const counts = await engine.count();
      assert.deepEqual([counts.queued, counts.running, worker.waiting], [2, 0, 0]);
      await engine.setPaused("*", false);
      const rest = [await worker.next(), await worker.next()];
      assert.deepEqual(new Set(rest.map(({ run }) => run.id)), new Set([paused.id, late.id]));
      for (const one of rest) one.end(DONE);
      await worker.close();
    },
  },
  {
    name: "lists workers with what they can take and how many runs they have, until they close",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      assert.deepEqual(await engine.workers(), []);
      await engine.create(newRun());
      const idle = await TestWorker.start(other, { name: "idle", definitions: ["other"], labels: ["gpu"] });
      const busy = await TestWorker.start(engine, { name: "busy", concurrency: 3 });
      const claim = await busy.next();
      let listed = await other.workers();
      while (listed.length < 2) listed = await other.workers();
      const found = [...listed].sort((a, b) => (a.name < b.name ? -1 : 1));
      assert.deepEqual(
        found.map(({ name, concurrency, runs, labels, definitions }) => [
          name.split(" ")[0],
          concurrency,
          runs,
          labels,
          definitions,
        ]),
        [
          ["busy", 3, 1, [], ["test"]],
          ["idle", 1, 0, ["gpu"], ["other"]],
        ],
      );
      assert.equal(found[0]?.name, claim.worker);
      claim.end(DONE);
      await idle.close();
      await busy.close();
      assert.deepEqual(await engine.workers(), []);
    },
  },
  {
    name: "reports the end of a claim once every process can read it",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun();
      await engine.create(run);
      const seen = withResolvers();
      const worker = await TestWorker.start(engine, {
        onEnded: ({ id }, ending) => {
          other
            .get(id)
            .then((now) => seen.resolve([now?.state, now?.approvals.length, ending.state]), seen.reject);
        },
      });
      (await worker.next()).end({ state: "waiting", approvals: [APPROVAL] });
      assert.deepEqual(await seen.promise, ["waiting", 1, "waiting"]);
      await worker.close();
    },
  },
  {
    name: "lists the limits of all tenants that have any",
    async run({ open }) {
      const engine = await open();
      await engine.setLimits("b", { modelCallsPerMinute: 5 });
      await engine.setLimits("a", { concurrency: 2 });
      await engine.setLimits("c", { concurrency: 1 });
      await engine.setLimits("c", {});
      assert.deepEqual(await engine.getAllLimits(), { a: { concurrency: 2 }, b: { modelCallsPerMinute: 5 } });
    },
  },
  {
    name: "starts the run of a schedule once, however many processes see that it is due, and plans the next",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const planned = await scheduleRun(engine, schedule("report", "skip"));
      assert.deepEqual(await other.getSchedules(), [planned]);
      const local = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", hour: "numeric" });
      assert.equal(local.format(planned.nextAt), "09");
      assert.equal(await startDue(other, planned.nextAt - 1000, fail), planned.nextAt);
      assert.equal((await engine.list()).length, 0);
      const due = planned.nextAt + 3 * 24 * HOUR_MS;
      const [next] = await Promise.all([startDue(engine, due, fail), startDue(other, due, fail)]);
      // Times that were missed count once.
      const runs = await engine.list();
      assert.equal(runs.length, 1);
      assert.deepEqual([runs[0]?.tenant, runs[0]?.title], ["acme", "report"]);
      assert.ok(next !== undefined && next > due);
      const [now] = await other.getSchedules();
      assert.deepEqual([now?.nextAt, now?.last?.runId], [next, runs[0]?.id]);
      assert.equal(await engine.removeSchedule("report"), true);
      assert.equal(await other.removeSchedule("report"), false);
      assert.equal(await startDue(engine, due + 24 * HOUR_MS, fail), undefined);
    },
  },
  {
    name: "skips, allows or cancels a run that a schedule started before and that has not ended",
    async run({ open }) {
      const engine = await open();
      for (const [overlap, states] of [
        ["skip", ["queued"]],
        ["allow", ["queued", "queued"]],
        ["cancel", ["queued", "cancelled"]],
      ] as const) {
        const { nextAt } = await scheduleRun(engine, schedule(overlap, overlap));
        const next = await startDue(engine, nextAt, fail);
        await startDue(engine, next ?? 0, fail);
        const runs = await engine.list({ text: overlap });
        assert.deepEqual(runs.map(({ state }) => state).sort(), [...states].sort(), overlap);
        await engine.removeSchedule(overlap);
      }
      for (const cron of ["2031-01-01T00:00:00", "0 0 9 1 1 * 2031", "every day", "* * * *", ""]) {
        await assert.rejects(
          scheduleRun(engine, { ...schedule("x", "skip"), cron }),
          /cron must have five fields, or six with seconds first: .* use startAt\./,
        );
      }
      await assert.rejects(
        scheduleRun(engine, { ...schedule("x", "skip"), cron: "on every day at 9" }),
        /cannot be read/,
      );
      await assert.rejects(
        scheduleRun(engine, { ...schedule("x", "skip"), timeZone: "Mars/Olympus" }),
        /cannot be read/,
      );
      for (const cron of ["@daily", " 0  0 9 * * 1-5 "]) {
        const { nextAt } = await scheduleRun(engine, { ...schedule("named", "skip"), cron });
        assert.ok(nextAt > Date.now(), cron);
      }
      await assert.rejects(scheduleRun(engine, schedule("no spaces", "skip")), /The id of a schedule/);
    },
  },
  {
    name: "starts the runs of other schedules if one fails, and removes a schedule without a next time",
    async run({ open }) {
      const engine = await open();
      const nextAt = Date.parse("2031-01-01T00:00:00Z");
      await engine.setSchedule({ ...schedule("a-broken", "skip"), cron: "every day", nextAt });
      await engine.setSchedule({ ...schedule("b-once", "skip"), cron: "2031-01-01T00:00:00", nextAt });
      await engine.setSchedule({ ...schedule("c-daily", "skip"), nextAt });
      const faults: unknown[] = [];
      const next = await startDue(engine, nextAt, (error) => faults.push(error));
      assert.equal(next, Date.parse("2031-01-01T08:00:00Z"));
      assert.match(
        faults.map(String).join("\n"),
        /^Error: Schedule "a-broken": The schedule cannot be read: .*$/,
      );
      assert.deepEqual((await engine.list()).map(({ title }) => title).sort(), ["b-once", "c-daily"]);
      assert.deepEqual(
        (await engine.getSchedules()).map(({ id }) => id),
        ["a-broken", "c-daily"],
      );
    },
  },
];

/** `Promise.withResolvers`, which Node.js has from version 22 on. */
function withResolvers(): {
  promise: Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
} {
  let [resolve, reject]: ((value: unknown) => void)[] = [];
  const promise = new Promise((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  return { promise, resolve: (value) => resolve?.(value), reject: (reason) => reject?.(reason) };
}
