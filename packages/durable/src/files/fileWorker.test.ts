import { appendFileSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openEngine, temporaryDirectory } from "../../test/helpers.js";
import { DONE, newRun, TestWorker } from "../testing/claims.js";

test("closes a worker even if it cannot write the end of a run, and gives the run to the next worker", async () => {
  const directory = temporaryDirectory();
  const engine = openEngine(directory);
  await engine.create(newRun());
  const worker = await TestWorker.start(engine);
  const claim = await worker.next();
  const next = join(directory, "log.2.jsonl");
  mkdirSync(next);
  appendFileSync(join(directory, "log.1.jsonl"), '{"op":"seal"}\n');
  claim.end(DONE);
  await worker.close();
  rmdirSync(next);
  const other = await TestWorker.start(engine, { leaseMs: 100 });
  const again = await other.next();
  expect(again).toMatchObject({ epoch: 2, run: { id: claim.run.id, crashes: 1 } });
  again.end(DONE);
  await other.close();
});
