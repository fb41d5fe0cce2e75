import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { createFileEngine, type RunEngine, startRun } from "../src/index.js";
import { follow, temporaryDirectory } from "./helpers.js";
import { checkRun, countEffects, spawnWorker } from "./killing.js";
import { REDIS_URL, testSchema, withServers } from "./servers.js";

const KILLS = { name: "kills", version: "1" };
const LEASE_MS = 3000;
// The lease of the worker that continues: longer than a busy machine can delay a process. A run that it lost would be
// claimed a second time.
const LONG_MS = 60_000;

interface Place {
  readonly engine: RunEngine;
  readonly module: string;
  readonly address: string;
}

const ENGINES: readonly [string, boolean, () => Promise<Place>][] = [
  [
    "files",
    true,
    async () => {
      const address = join(temporaryDirectory(), "runs");
      return { engine: createFileEngine(address), module: "fileEngine.mjs", address };
    },
  ],
  [
    "BullMQ and Postgres",
    withServers,
    async () => {
      const options = { ...(await testSchema()), redis: REDIS_URL };
      const engine = await createBullmqEngine(options);
      return { engine, module: "bullmqEngine.mjs", address: JSON.stringify(options) };
    },
  ],
];

describe.each(ENGINES)("a worker whose event loop is blocked past its lease, on %s", (_, canRun, open) => {
  test
    .skipIf(!canRun)
    .each(["claim", "before intent", "after intent", "before write", "after write", "finish"])(
    "%s: writes nothing when it continues, and nothing is done twice",
    async (point) => {
      const { engine, module, address } = await open();
      onTestFinished(() => engine.close());
      const engineModule = new URL(`./fixtures/${module}`, import.meta.url).href;
      const crowd = {
        engineModule,
        address,
        effects: join(temporaryDirectory(), "effects"),
      };
      const start = async (leaseMs: number, death?: string): Promise<ChildProcess> => {
        const worker = spawnWorker({ ...crowd, leaseMs }, death);
        onTestFinished(() => void worker.kill("SIGKILL"));
        await once(worker, "message");
        return worker;
      };
      const blocked = await start(LEASE_MS, `block ${point}:1`);
      const awake = once(blocked, "message");
      const id = await startRun(engine, KILLS, {});
      await follow(engine, id, "running");
      await start(LONG_MS);
      await follow(engine, id);
      expect(await engine.get(id)).toMatchObject({ epoch: 2, crashes: 1 });
      writeFileSync(join(dirname(crowd.effects), "awake"), "");
      await awake;
      // Time for what the worker still wants to write.
      const next = await startRun(engine, KILLS, {});
      await follow(engine, next);
      const effects = countEffects(crowd.effects);
      for (const one of [id, next]) await checkRun(engine, one, effects);
    },
  );
});
