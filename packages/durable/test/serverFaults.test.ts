import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { defineTool } from "@agent/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { type RunEngine, startRun } from "../src/index.js";
import { DONE, newRun, TestWorker, text, texts } from "../src/testing/claims.js";
import { hasServers, type Servers, startServers } from "./fixtures/databases.mjs";
import { eventsOf, follow, scripted, temporaryDirectory, workWith } from "./helpers.js";
import { type Crowd, checkRun, countEffects, spawnWorker } from "./killing.js";
import { query, withServers } from "./servers.js";

// These tests break their servers: they have their own.
const canRun = withServers && hasServers();
const canMount = canRun && process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0;
if (withServers && !canRun) {
  process.stdout.write("Skipped: faults of servers. They need Postgres and Redis on this machine.\n");
}

const KILLS = { name: "kills", version: "1" };
const LEASE_MS = 1000;

interface Place {
  readonly engine: RunEngine;
  readonly crowd: Crowd;
  readonly schema: string;
}

async function open({ postgres, redis }: Servers, withRedis = true): Promise<Place> {
  const schema = `test_${crypto.randomUUID().slice(0, 8)}`;
  const options = { postgres, schema, ...(withRedis && { redis }) };
  const engine = await createBullmqEngine({ ...options, maxConnections: 4 });
  onTestFinished(() => engine.close());
  const crowd = {
    engineModule: new URL("./fixtures/bullmqEngine.mjs", import.meta.url).href,
    address: JSON.stringify(options),
    effects: join(temporaryDirectory(), "effects"),
    leaseMs: LEASE_MS,
  };
  return { engine, crowd, schema };
}

/** A worker process that takes runs when this resolves. */
async function startWorkers(crowd: Crowd, count: number): Promise<ChildProcess[]> {
  const workers = Array.from({ length: count }, () => spawnWorker(crowd));
  onTestFinished(() => {
    for (const worker of workers) worker.kill("SIGKILL");
  });
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
  return workers;
}

async function startRuns(engine: RunEngine, count: number): Promise<string[]> {
  return await Promise.all(Array.from({ length: count }, () => startRun(engine, KILLS, {})));
}

/** Changes a setting of a server; its connections have it when this resolves. */
async function setServer(name: string, value: string, address: string, admin = address): Promise<void> {
  await query(`alter system set ${name} = '${value}'`, admin);
  await query("select pg_reload_conf()", admin);
  // The server reads it later. It informs the connections that are open before it accepts one that has it.
  await expect.poll(async () => (await query(`show ${name}`, address))[0]?.[name]).toBe(value);
}

/** Every run ended well, nothing was done twice, and no event is missing or there twice. */
async function checkRuns({ engine, crowd }: Place, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => follow(engine, id)));
  const effects = countEffects(crowd.effects);
  for (const id of ids) await checkRun(engine, id, effects);
}

describe.skipIf(!canRun)("servers that fail under load", () => {
  let servers: Servers;
  beforeAll(async () => {
    servers = await startServers();
  });
  afterAll(() => servers.stop());

  test.each([
    ["Redis", true],
    ["Postgres alone", false],
  ])(
    "continue every run after Postgres restarts as after a power failure, with %s as the queue, and no worker ends",
    async (_, withRedis) => {
      const place = await open(servers, withRedis);
      const ids = await startRuns(place.engine, 20);
      const workers = await startWorkers(place.crowd, 2);
      const ended = Promise.race(workers.map((worker) => once(worker, "exit")));
      await follow(place.engine, ids[0] ?? "");
      servers.restartPostgres();
      await Promise.race([checkRuns(place, ids), ended]);
      expect(workers.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
    },
  );

  test("continue a run whose last events Postgres lost in the restart before the run could end", async () => {
    // Events do not wait for the disk: for ten seconds only the memory of the server has them.
    await setServer("wal_writer_delay", "10s", servers.postgres);
    onTestFinished(() => setServer("wal_writer_delay", "200ms", servers.postgres));
    const { engine } = await open(servers);
    const run = newRun();
    await engine.create(run);
    const worker = await TestWorker.start(engine);
    onTestFinished(() => worker.close());
    const claim = await worker.next();
    await claim.append([], [text("lost")]);
    servers.restartPostgres();
    claim.end(DONE);
    void worker.next().then(async (again) => {
      await again.append([], [text("reported again")]);
      again.end(DONE);
    });
    const all = await follow(engine, run.id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done", epoch: 2, crashes: 0 } });
    expect(texts(all)).toEqual(["reported again"]);
  });

  test("restore from Postgres what was queued in Redis when it restarts without its data", async () => {
    const place = await open(servers);
    const ids = await startRuns(place.engine, 20);
    await startWorkers(place.crowd, 2);
    await follow(place.engine, ids[0] ?? "");
    await servers.restartRedis();
    await checkRuns(place, ids);
  });

  test("find every run with the next worker after Redis is flushed while no one works", async () => {
    const place = await open(servers);
    const ids = await startRuns(place.engine, 3);
    const { Redis } = await import("ioredis");
    const redis = new Redis(servers.redis);
    await redis.flushall();
    redis.disconnect();
    await startWorkers(place.crowd, 1);
    await checkRuns(place, ids);
  });

  test("get nothing from a worker that wakes after it was stopped past its lease", async () => {
    const place = await open(servers);
    const { engine, crowd, schema } = place;
    const [stopped] = await startWorkers(crowd, 1);
    const [id = ""] = await startRuns(engine, 1);
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "tool_start") break;
    }
    stopped?.kill("SIGSTOP");
    await startWorkers(crowd, 1);
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "claimed" && one.event.epoch === 2) break;
    }
    stopped?.kill("SIGCONT");
    await checkRuns(place, [id]);
    for (const table of ["step", "event"]) {
      const late = await query(
        `select * from ${schema}.${table} where epoch = 1 and seq > (select min(seq) from ${schema}.${table} where epoch = 2)`,
        servers.postgres,
      );
      expect(late, table).toEqual([]);
    }
  });

  test("set aside a run that kills its worker every time, with its reason", async () => {
    const { engine, crowd } = await open(servers);
    const [id = ""] = await startRuns(engine, 1);
    const poison = { ...crowd, maxCrashes: 2 };
    for (let index = 0; index < 2; index++) {
      const worker = spawnWorker(poison, "claim:1");
      onTestFinished(() => void worker.kill("SIGKILL"));
      await new Promise((resolve) => worker.once("exit", resolve));
    }
    await workWith(engine, { ...scripted(["Done."]), name: "other" });
    await follow(engine, id);
    const { state, error } = (await engine.get(id)) ?? {};
    expect(state).toBe("set_aside");
    expect(error?.message).toMatch(/^2 workers were lost with it\. The last: killable .*no heartbeat/);
  });

  test("refuse with a message while the database is read-only, and continue runs when it is not any more", async () => {
    const { engine } = await open(servers);
    // Its own connection that may write in any case.
    const writing = `${servers.postgres}?options=${encodeURIComponent("-c default_transaction_read_only=off")}`;
    const setReadOnly = (value: string): Promise<void> =>
      setServer("default_transaction_read_only", value, servers.postgres, writing);
    onTestFinished(() => setReadOnly("off"));
    const definition = stopper(() => setReadOnly("on"));
    const faults: string[] = [];
    const onFault = (error: unknown): void => void faults.push(String(error));
    await workWith(engine, definition, { leaseMs: LEASE_MS, onFault });
    const id = await startRun(engine, definition, {});
    await expect.poll(() => faults.join("\n")).toContain("read-only transaction");
    await expect(startRun(engine, definition, {})).rejects.toThrow("read-only transaction");
    expect((await engine.list()).map((run) => run.id)).toEqual([id]);
    await setReadOnly("off");
    await expectOneEnd(engine, id);
  });
});

test.skipIf(!canMount)(
  "loses nothing in a database whose disk is full, and continues runs when there is room (needs root)",
  async () => {
    const servers = await startServers({ smallDisk: "24m" });
    onTestFinished(() => servers.stop());
    const { engine, schema } = await open(servers);
    const ask = (text: string) => query(text, servers.postgres);
    await ask(`create tablespace small location '${servers.smallDisk}'`);
    for (const table of ["step", "event"]) await ask(`alter table ${schema}.${table} set tablespace small`);
    const fill = async (): Promise<void> => {
      await ask("create table ballast (bytes text) tablespace small");
      for (const size of [100_000, 1000, 1]) {
        const rows = `select string_agg(md5(random()::text), '') from generate_series(1, ${size / 10 + 1})`;
        while (
          await ask(`insert into ballast ${rows}`).then(
            () => true,
            () => false,
          )
        );
      }
    };
    const definition = stopper(fill);
    const faults: string[] = [];
    const onFault = (error: unknown): void => void faults.push(String(error));
    // Longer than filling the disk takes: a claim that was lost meanwhile would write nothing, and meet no full disk.
    await workWith(engine, definition, { leaseMs: 20_000, onFault });
    const id = await startRun(engine, definition, {});
    await expect.poll(() => faults.join("\n")).toContain("No space left on device");
    // A fault of the database does not fail the run. The run may even be done: the free rest of a page can hold its end.
    const run = await engine.get(id);
    expect(["queued", "running", "done"]).toContain(run?.state);
    expect(run).toMatchObject({ crashes: 0 });
    expect(run).not.toHaveProperty("error");
    await ask("drop table ballast");
    await expectOneEnd(engine, id);
  },
);

/** A run whose only call does something to the database, once, and returns more than fits into a page. */
function stopper(act: () => Promise<void>) {
  let calls = 0;
  const tool = defineTool({
    name: "write",
    description: "Writes.",
    input: { type: "object", properties: {} },
    execute: async () => {
      if (calls++ === 0) await act();
      return crypto.getRandomValues(new Uint8Array(20_000)).toString();
    },
  });
  // By the conversation, since a script starts anew with each claim.
  const answer = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "write" }] };
  return scripted([answer, answer], [tool]);
}

/** The call ran once: either its result is known, or the model was informed that it may have run. */
async function expectOneEnd(engine: RunEngine, id: string): Promise<void> {
  const all = await follow(engine, id);
  expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
  const ends = eventsOf(all).filter((event) => event.type === "tool_end");
  expect(ends).toHaveLength(1);
  expect(ends[0]).toMatchObject({ outcome: "interrupted" });
}
