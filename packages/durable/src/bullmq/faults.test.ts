import { defineTool } from "@agent/core";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { eventsOf, follow, scripted, workWith } from "../../test/helpers.js";
import { startProxy } from "../../test/proxy.js";
import { POSTGRES_URL, query, REDIS_URL, testSchema, withServers } from "../../test/servers.js";
import type { RunEngine } from "../engine/engine.js";
import { startRun } from "../engine/startRun.js";
import { newRun, TestWorker } from "../testing/claims.js";
import { createBullmqEngine } from "./bullmqEngine.js";

async function openEngine(
  schema: string,
  { postgres = POSTGRES_URL, ...queue }: { postgres?: string; redis?: string | undefined } = {},
): Promise<RunEngine> {
  const redis = "redis" in queue ? queue.redis : REDIS_URL;
  const engine = await createBullmqEngine({
    postgres,
    ...(redis !== undefined && { redis }),
    schema,
    maxConnections: 4,
  });
  onTestFinished(() => engine.close());
  return engine;
}

describe("wrong options", () => {
  test.each([
    [{}, "postgres must be a string, got nothing."],
    [{ postgres: "postgres://x", schema: 'a"b' }, "schema must be 1 to 50 lower-case letters"],
    [
      { postgres: "postgres://x", rediss: "y" },
      'createBullmqEngine has no option "rediss". Did you mean "redis"?',
    ],
    [
      { postgres: "postgres://127.0.0.1:1/none" },
      "The runs in Postgres cannot be used: connect ECONNREFUSED 127.0.0.1:1",
    ],
  ])("refuses %j", async (options, message) => {
    await expect(createBullmqEngine(options as never)).rejects.toThrow(message);
  });
});

describe.skipIf(!withServers)("faults of the database", () => {
  test("refuses a schema of a newer version with a message", async () => {
    const { schema } = await testSchema();
    await openEngine(schema);
    await query(`insert into ${schema}.migration values (99)`);
    await expect(openEngine(schema)).rejects.toThrow(
      `The schema ${schema} was written by a newer version of @agent/durable (99; this one knows 1). Upgrade`,
    );
  });

  test("leaves a run of a newer format to newer workers", async () => {
    const { schema } = await testSchema();
    const engine = await openEngine(schema);
    const definition = scripted(["Done."]);
    const newer = await startRun(engine, definition, {});
    await query(`update ${schema}.run set format = 2`);
    const own = await startRun(engine, definition, {});
    await workWith(engine, definition);
    await follow(engine, own);
    expect((await engine.get(newer))?.state).toBe("queued");
  });

  test("continues the run and does nothing twice when every connection is cut in the middle of a call", async () => {
    const { schema } = await testSchema();
    // The connections have their own name: other tests use this server at the same time.
    const engine = await openEngine(schema, { postgres: `${POSTGRES_URL}?application_name=${schema}` });
    const write = vi.fn(async () => {
      const cut = await query(
        `select pg_terminate_backend(pid) as done from pg_stat_activity where application_name = '${schema}'`,
      );
      expect(cut).toContainEqual({ done: true });
      return "wrote";
    });
    const input = { type: "object", properties: {} } as const;
    const tool = defineTool({ name: "write", description: "Writes.", input, execute: write });
    const answers = [{ calls: [{ name: "write" }] }, "Done."];
    // A script starts anew with each claim; the journal has its first answer by then.
    const { create } = scripted(answers, [tool]);
    const again = scripted(answers.slice(1), [tool]);
    const definition = {
      ...again,
      create: (run: Parameters<typeof create>[0]) =>
        write.mock.calls.length > 0 ? again.create(run) : create(run),
    };
    await workWith(engine, definition, { leaseMs: 1000 });
    const id = await startRun(engine, definition, {});
    const all = await follow(engine, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
    expect(write).toHaveBeenCalledOnce();
    const ends = eventsOf(all).filter(({ type }) => type === "tool_end");
    expect(ends).toHaveLength(1);
  });

  test("returns a run that a worker claims while it closes, before it is closed", async () => {
    const { schema } = await testSchema();
    const engine = await openEngine(schema);
    const run = newRun();
    await engine.create(run);
    // Its row is locked, so that the claim waits.
    const client = new pg.Client({ connectionString: POSTGRES_URL });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("begin");
    await client.query(`select 1 from ${schema}.run for update`);
    const worker = await TestWorker.start(engine);
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}.run set state = ''running''%'`;
    await vi.waitUntil(async () => (await query(waiting)).length > 0, { timeout: 60_000 });
    const order: string[] = [];
    const closed = worker.close().then(() => order.push("closed"));
    await client.query("commit");
    const claim = await worker.next();
    // Long enough for a worker that forgot the claim to be closed.
    await query("select pg_sleep(1)");
    order.push("ended");
    claim.end({ state: "queued" });
    await closed;
    expect(order).toEqual(["ended", "closed"]);
    expect(await engine.get(run.id)).toMatchObject({ state: "queued", epoch: 1 });
  });

  test("closes a worker, and returns its run, while it waits for a queue that does not answer", async () => {
    const { schema } = await testSchema();
    let isSilent = false;
    let onAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const redis = await startProxy(REDIS_URL, (near, dial) => {
      const far = dial();
      far.pipe(near);
      near.on("data", (data: Buffer) => {
        if (!isSilent) far.write(data);
        // Taking a ticket marks it with a token of this process.
        else if (data.includes(`${process.pid}-`)) onAsked();
      });
    });
    const engine = await openEngine(schema, { redis });
    const run = newRun();
    await engine.create(run);
    const worker = await TestWorker.start(engine, { concurrency: 2 });
    const claim = await worker.next();
    isSilent = true;
    await asked;
    const closed = worker.close();
    claim.end({ state: "queued" });
    await closed;
    expect(await engine.get(run.id)).toMatchObject({ state: "queued", crashes: 0 });
  });

  test("requeues a run whose ticket was lost with the queue", async () => {
    const { schema } = await testSchema();
    const engine = await openEngine(schema, { redis: undefined });
    const definition = scripted(["Done."]);
    const id = await startRun(engine, definition, {});
    // As after a process that died between the commit and the queue.
    await query(`delete from ${schema}_queue.job`);
    await query(`update ${schema}.run set enqueued = false, queued_at = now() - interval '1 minute'`);
    await workWith(engine, definition);
    expect((await follow(engine, id)).at(-1)).toMatchObject({ run: { state: "done" } });
  });
});
