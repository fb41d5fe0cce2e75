import type { Worker } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { startProxy } from "../../test/proxy.js";
import { POSTGRES_URL, query, testSchema, withServers } from "../../test/servers.js";
import { clientConfig, postgresTickets } from "./bullmqEngine.js";
import { Tickets } from "./tickets.js";

const KIND = { name: "test", definition: "test", labels: [] };

describe.skipIf(!withServers)("the queues", () => {
  test("replace at the next attempt a worker whose check for lost tickets did not start", async () => {
    const { schema } = await testSchema();
    const backend = await postgresTickets(clientConfig(POSTGRES_URL, 30_000), `${schema}_queue`);
    const checked: boolean[] = [];
    const tickets = new Tickets(
      {
        ...backend,
        createWorker(name, lockMs) {
          const worker = backend.createWorker(name, lockMs);
          const start = worker.startStalledCheckTimer.bind(worker);
          worker.startStalledCheckTimer = async () => {
            checked.push(checked.length > 0);
            if (checked.length === 1) throw new Error("The connection was cut.");
            await start();
          };
          return worker;
        },
      },
      schema,
      () => undefined,
    );
    onTestFinished(() => tickets.close());
    await expect(tickets.open([KIND], 1000)).rejects.toThrow("The connection was cut.");
    await tickets.open([KIND], 1000);
    await tickets.open([KIND], 1000);
    expect(checked).toEqual([false, true]);
  });

  test("open one worker for a kind however often they are asked at the same time, and close it while it opens", async () => {
    const { schema } = await testSchema();
    const backend = await postgresTickets(clientConfig(POSTGRES_URL, 30_000), `${schema}_queue`);
    const workers: Worker[] = [];
    const createWorker: typeof backend.createWorker = (name, lockMs) => {
      const worker = backend.createWorker(name, lockMs);
      workers.push(worker);
      return worker;
    };
    const tickets = new Tickets({ ...backend, createWorker }, schema, () => undefined);
    await Promise.all([tickets.open([KIND], 1000), tickets.open([KIND], 1000)]);
    expect(workers).toHaveLength(1);
    const opening = tickets.open([{ ...KIND, name: "other" }], 1000).catch(() => undefined);
    await tickets.close();
    await opening;
    expect(workers.map(({ closing }) => closing !== undefined)).toEqual([true, true]);
  });

  test("keep no connection to Postgres that waits for tickets", async () => {
    const { postgres, schema } = await testSchema();
    const backend = await postgresTickets(clientConfig(postgres, 30_000), `${schema}_queue`);
    const tickets = new Tickets(backend, schema, () => undefined);
    onTestFinished(() => tickets.close());
    await tickets.open([KIND], 1000);
    await tickets.add(KIND.name, "run", 0, 1);
    const ticket = await tickets.next(KIND.name);
    expect(ticket?.runId).toBe("run");
    await ticket?.done();
    // BullMQ names such a connection after its queue.
    const waiting = `select 1 from pg_stat_activity where application_name like '${schema}%'`;
    expect(await query(waiting)).toEqual([]);
  });

  test("queue a ticket with the next attempt if the database was not there for the first one", async () => {
    const { schema } = await testSchema();
    let isThere = false;
    const address = await startProxy(POSTGRES_URL, (near, dial) => {
      if (isThere) near.pipe(dial()).pipe(near);
      else near.destroy();
    });
    const backend = await postgresTickets(clientConfig(address, 30_000), `${schema}_queue`);
    const tickets = new Tickets(backend, schema, () => undefined);
    onTestFinished(() => tickets.close());
    await expect(tickets.add("test", "run", 0, 1)).rejects.toThrow();
    isThere = true;
    await tickets.add("test", "run", 0, 1);
    expect(await tickets.has("test", "run", 0)).toBe(true);
  });
});
