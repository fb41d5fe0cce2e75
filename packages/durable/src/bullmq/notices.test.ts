import { EventEmitter, once } from "node:events";
import { defineTool } from "@agent/core";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { follow, scripted, workWith } from "../../test/helpers.js";
import { POSTGRES_URL, REDIS_URL, testSchema, withServers } from "../../test/servers.js";
import { startRun } from "../engine/startRun.js";
import { createBullmqEngine } from "./bullmqEngine.js";

/** Everything that is sent in a schema, in order. */
async function listenTo(schema: string): Promise<string[]> {
  const client = new pg.Client(POSTGRES_URL);
  const topics: string[] = [];
  client.on("notification", ({ payload = "" }) => topics.push(...payload.split(",")));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`listen ${schema}`);
  return topics;
}

const PATIENCE = { timeout: 60_000 };

describe.skipIf(!withServers)("notices of a run's events", () => {
  test("are sent from the moment when a follower in another process starts", async () => {
    const { schema } = await testSchema();
    const open = async () => {
      const engine = await createBullmqEngine({ postgres: POSTGRES_URL, redis: REDIS_URL, schema });
      onTestFinished(() => engine.close());
      return engine;
    };
    const [engine, other] = [await open(), await open()];
    const topics = await listenTo(schema);
    const after = (topic: string) => topics.slice(topics.indexOf(topic) + 1 || topics.length);
    const gates = new EventEmitter();
    let calls = 0;
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      input: { type: "object", properties: {} },
      capabilities: ["write"],
      execute: async () => {
        calls++;
        await once(gates, "open");
        return "waited";
      },
    });
    const call = { calls: [{ name: "wait" }] };
    const definition = scripted([call, call, call, "Done."], [wait]);
    await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    await vi.waitFor(() => expect(calls).toBe(1), PATIENCE);
    gates.emit("open");
    await vi.waitFor(() => expect(calls).toBe(2), PATIENCE);
    // A run without followers sends a notice when it is queued and when it is claimed, but not for each event.
    await vi.waitFor(() => expect(topics).toContain(id), PATIENCE);
    expect(topics.filter((topic) => topic === id).length).toBeLessThanOrEqual(2);
    const followed = follow(other, id);
    // The run's worker answers with a notice, since the follower may have missed events.
    await vi.waitFor(() => expect(after(`?${id}`)).toContain(id), PATIENCE);
    const before = after(`?${id}`).length;
    gates.emit("open");
    await vi.waitFor(() => expect(calls).toBe(3), PATIENCE);
    await vi.waitFor(() => expect(after(`?${id}`).slice(before)).toContain(id), PATIENCE);
    gates.emit("open");
    await followed;
  });
});
