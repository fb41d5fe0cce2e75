import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { createFileEngine, type RunEngine } from "../src/index.js";
import { DONE, entry, newRun, reached, TestWorker } from "../src/testing/claims.js";
import { temporaryDirectory } from "./helpers.js";
import { REDIS_URL, testSchema, withServers } from "./servers.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const LEASE_MS = 5000;

const ENGINES: readonly [string, boolean, () => Promise<() => Promise<RunEngine>>][] = [
  [
    "files",
    true,
    async () => {
      const directory = join(temporaryDirectory(), "runs");
      return async () => createFileEngine(directory);
    },
  ],
  [
    "BullMQ and Postgres",
    withServers,
    async () => {
      const options = { ...(await testSchema()), redis: REDIS_URL };
      return () => createBullmqEngine(options);
    },
  ],
];

describe.each(ENGINES)("a clock that jumps, on %s", (_, canRun, prepare) => {
  test.skipIf(!canRun).each([
    ["forward", DAY_MS],
    ["back", -DAY_MS],
  ])("takes no run away from its worker: %s by a day", async (_name, jump) => {
    const open = await prepare();
    const [engine, other] = [await open(), await open()];
    onTestFinished(async () => {
      await Promise.all([engine.close(), other.close()]);
    });
    const run = newRun();
    await engine.create(run);
    const worker = await TestWorker.start(engine, { leaseMs: LEASE_MS });
    const claim = await worker.next();
    const eager = await TestWorker.start(other, { leaseMs: LEASE_MS });
    const { now } = Date;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + jump);
    onTestFinished(() => clock.mockRestore());
    // Longer than the lease: it has to be renewed meanwhile.
    await sleep(1.5 * LEASE_MS);
    await claim.append([entry("a")], []);
    expect(eager.waiting).toBe(0);
    expect(await other.get(run.id)).toMatchObject({ state: "running", epoch: 1, crashes: 0 });
    claim.end(DONE);
    await reached(other, run.id, "done");
    await Promise.all([worker.close(), eager.close()]);
  });
});
