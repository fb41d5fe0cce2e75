import assert from "node:assert/strict";
import { collectEvents, DONE, entry, newRun, TestWorker, text, texts } from "../claims.js";
import type { EngineCase } from "../engineCase.js";

/** Cases: what can be read back from a journal and an event log. */
export const eventCases: readonly EngineCase[] = [
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
    name: "a follower stops when its signal aborts, and one of an unknown run ends immediately",
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
];
