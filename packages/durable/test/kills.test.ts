import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { type RunEngine, startRun } from "../src/index.js";
import { openEngine, temporaryDirectory } from "./helpers.js";
import { checkRun, countEffects, keepDying } from "./killing.js";
import { query, REDIS_URL, testSchema, withServers } from "./servers.js";

const RUNS = Number(process.env.AGENT_KILL_RUNS ?? 150);
const KILLS = Number(process.env.AGENT_KILLS ?? 40);
// On Postgres a lost run waits for its lease: fewer of them, unless someone asks for a number.
const SHARE = process.env.AGENT_KILL_RUNS === undefined ? 5 : 1;
const TIMEOUT_MS = 120_000 + RUNS * 1500;

interface Place {
  readonly engine: RunEngine;
  readonly module: string;
  readonly address: string;
  readonly directory: string;
  readonly leaseMs: number;
}

/** Starts runs, lets workers die over them, and checks every run. Returns their ids. */
async function survive(place: Place, runs: number, most: number): Promise<string[]> {
  expect(existsSync(new URL("../dist/index.js", import.meta.url)), "Build the package first").toBe(true);
  const { engine, directory, leaseMs, address } = place;
  const ids: string[] = [];
  for (let index = 0; index < runs; index++) {
    ids.push(await startRun(engine, { name: "kills", version: "1" }, {}, { tenant: `t${index % 3}` }));
  }
  let left = runs;
  const watch = setInterval(async () => {
    const { queued, running } = await engine.count();
    left = queued + running;
  }, 50);
  const engineModule = new URL(`./fixtures/${place.module}`, import.meta.url).href;
  const crowd = { engineModule, address, effects: join(directory, "effects"), leaseMs };
  const { kills, stops } = await keepDying(crowd, 3, most, () => left === 0);
  clearInterval(watch);
  const effects = countEffects(crowd.effects);
  let interrupted = 0;
  for (const id of ids) interrupted += await checkRun(engine, id, effects);
  process.stdout.write(
    `${runs} runs, ${kills} kills, ${stops} stops past the lease, ${interrupted} calls interrupted\n`,
  );
  expect(kills).toBeGreaterThanOrEqual(most / 2);
  return ids;
}

test("runs on files survive workers that are killed and stopped: nothing is done twice, nothing is lost", {
  timeout: TIMEOUT_MS,
}, async () => {
  const directory = temporaryDirectory();
  const address = join(directory, "runs");
  const engine = openEngine(address);
  const ids = await survive(
    { engine, module: "fileEngine.mjs", address, directory, leaseMs: 500 },
    RUNS,
    KILLS,
  );
  for (const id of ids) expect(resultsTwice(join(address, "runs", id)), id).toEqual([]);
});

test.skipIf(!withServers)(
  "runs on BullMQ and Postgres survive the same",
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const directory = temporaryDirectory();
    const options = { ...(await testSchema()), redis: REDIS_URL };
    const engine = await createBullmqEngine(options);
    onTestFinished(() => engine.close());
    const place = {
      engine,
      module: "bullmqEngine.mjs",
      address: JSON.stringify(options),
      directory,
      leaseMs: 1000,
    };
    await survive(place, Math.ceil(RUNS / SHARE), Math.ceil(KILLS / SHARE));
    const twice = await query(
      `select run_id, key from ${options.schema}.step where kind = 'result' and key <> 'version' group by 1, 2 having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  },
);

/** Steps that completed more than once in what counts of a run's journals. */
function resultsTwice(directory: string): string[] {
  const files = readdirSync(directory).filter((name) => name.startsWith("journal."));
  const numbers = files.map((name) => Number(name.split(".")[1])).sort((a, b) => b - a);
  const newest = readFileSync(join(directory, `journal.${numbers[0]}.jsonl`), "utf8");
  const header = JSON.parse(newest.slice(0, newest.indexOf("\n")));
  const parts: string[] = header.previous.map(({ epoch, size }: { epoch: number; size: number }) =>
    readFileSync(join(directory, `journal.${epoch}.jsonl`))
      .subarray(0, size)
      .toString("utf8"),
  );
  const counts = new Map<string, number>();
  for (const line of [...parts, newest].join("").split("\n").filter(Boolean)) {
    for (const { key, kind } of JSON.parse(line).j ?? []) {
      if (kind === "result" && key !== "version") counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].filter(([, count]) => count > 1).map(([key]) => key);
}
