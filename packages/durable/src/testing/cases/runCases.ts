import assert from "node:assert/strict";
import { isAgentError } from "@agent/core";
import type { RunQuery } from "../../engine/engine.js";
import { collectEvents, DONE, entry, newRun, reached, TestWorker } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

const isTaken = (error: unknown): boolean => isAgentError(error, "invalid_argument");

/** Cases: a run from its start to its removal. */
export const runCases: readonly EngineCase[] = [
  {
    name: "a run goes from queued over running to done, and any process can read it",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun({ input: { message: "hé\n\u0001" }, trace: "00-1-2-01", title: "Says hé" });
      assert.equal(await engine.create(run), true);
      const queued = await other.get(run.id);
      assert.equal(queued?.state, "queued");
      assert.deepEqual(queued.input, run.input);
      assert.equal(queued.trace, run.trace);
      assert.deepEqual(
        (await other.list()).map(({ title }) => title),
        [run.title],
      );
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
      assert.equal(done.cost, 0.25);
      assert.ok((done.endedAt ?? 0) >= (done.startedAt ?? Infinity));
      assert.equal(await engine.get("unknown"), undefined);
      await worker.close();
    },
  },
  {
    name: "the same id twice is one run, also from two processes at the same time",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun({ input: { a: 1, b: [2] } });
      const again = { ...run, version: "2", input: { b: [2], a: 1 } };
      const created = await Promise.all([engine.create(run), other.create(again)]);
      assert.deepEqual(created.filter(Boolean).length, 1);
      assert.equal(await other.create(again), false);
      assert.equal((await engine.list()).length, 1);
    },
  },
  {
    name: "refuses an id that belongs to a run with another tenant, definition or input",
    async run({ open }) {
      const [engine, other] = [await open(), await open()];
      const run = newRun({ tenant: "acme", input: { secret: 1 } });
      await engine.create(run);
      for (const change of [{ tenant: "evil" }, { definition: "other" }, { input: { secret: 2 } }]) {
        await assert.rejects(other.create({ ...run, ...change }), isTaken);
      }
      const two = newRun();
      const results = await Promise.allSettled([
        engine.create({ ...two, tenant: "acme", input: "a" }),
        other.create({ ...two, tenant: "evil", input: "b" }),
      ]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      const { tenant, input } = (await engine.get(two.id)) ?? {};
      assert.equal(input, tenant === "acme" ? "a" : "b");
    },
  },
  {
    name: "a failed run keeps its reason, and a retry continues with its journal",
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
    name: "finds runs by state, tenant, label and text, page by page",
    async run({ open }) {
      const engine = await open();
      const titles = ["Fix the parser", "Fix the lexer", "Write docs", "fix 100%_ of it", "Fix the tests"];
      const runs = titles.map((title, index) =>
        newRun({ title, tenant: index < 4 ? "a" : "b", labels: index % 2 === 0 ? ["gpu", "x"] : ["x"] }),
      );
      for (const run of runs) await engine.create(run);
      const find = async (query: RunQuery) => (await engine.list(query)).map(({ title }) => title);
      assert.deepEqual(await find({ text: "FIX", tenant: "a" }), [titles[3], titles[1], titles[0]]);
      assert.deepEqual(await find({ text: "%_" }), [titles[3]]);
      assert.deepEqual(await find({ text: runs[2]?.id ?? "" }), [titles[2]]);
      assert.deepEqual(await find({ label: "gpu", state: "queued" }), [titles[4], titles[2], titles[0]]);
      assert.equal((await engine.count({ label: "gpu", text: "fix" })).queued, 2);
      const pages: (string | undefined)[] = [];
      for (let after: string | undefined; ; ) {
        const page = await engine.list({ label: "x", limit: 2, ...(after !== undefined && { after }) });
        pages.push(...page.map(({ title }) => title));
        after = page.at(-1)?.id;
        if (after === undefined) break;
      }
      assert.deepEqual(pages, titles.toReversed());
      assert.deepEqual(await find({ after: "unknown" }), []);
      for (const { id } of runs.slice(1)) await engine.cancel(id, "not needed");
      const worker = await TestWorker.start(engine, { labels: ["x", "gpu"] });
      const claim = await worker.next();
      claim.end({ state: "failed", error: { code: "failed", message: 'No \u0000 "Such" Host' } });
      await reached(engine, claim.run.id, "failed");
      assert.deepEqual(
        (await engine.list({ text: '"such" host' })).map(({ id }) => id),
        [claim.run.id],
      );
      await worker.close();
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
