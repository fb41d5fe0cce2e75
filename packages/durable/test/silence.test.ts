import { defineTool } from "@agent/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { startRun } from "../src/index.js";
import { eventsOf, follow, scripted, workWith } from "./helpers.js";
import { REDIS_URL, testSchema, withServers } from "./servers.js";
import { startSilentProxy } from "./silentProxy.js";

const LEASE_MS = 3000;
// The lease of the worker that continues: longer than a busy machine can delay a process.
const LONG_MS = 60_000;
const TIMEOUT_MS = 2000;

describe.skipIf(!withServers)("a network that goes silent", () => {
  test.each([
    ["Redis", true],
    ["Postgres alone", false],
  ])("costs a worker its run and nothing more, with %s as the queue", async (_name, withRedis) => {
    const direct = { ...(await testSchema()), ...(withRedis && { redis: REDIS_URL }) };
    const proxies = [
      await startSilentProxy(direct.postgres),
      ...(withRedis ? [await startSilentProxy(REDIS_URL)] : []),
    ];
    const [postgres, redis] = proxies.map(({ address }) => address);
    const cutOff = await createBullmqEngine({
      ...direct,
      ...(postgres && { postgres }),
      ...(redis && { redis }),
      timeoutMs: TIMEOUT_MS,
    });
    const other = await createBullmqEngine(direct);
    onTestFinished(async () => {
      await Promise.all([cutOff.close(), other.close()]);
    });
    let calls = 0;
    let isTold = false;
    const tool = defineTool({
      name: "write",
      description: "Writes.",
      input: { type: "object", properties: {} },
      execute: async (_, call) => {
        if (calls++ > 0) return "wrote";
        for (const proxy of proxies) proxy.silence();
        await new Promise((resolve) => call?.signal?.addEventListener("abort", resolve));
        isTold = true;
        return "wrote";
      },
    });
    // By the conversation, since a script starts anew with each claim.
    const answer = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
      messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "write" }] };
    const definition = scripted([answer, answer], [tool]);
    await workWith(cutOff, definition, { leaseMs: LEASE_MS, labels: ["cut off"] });
    const id = await startRun(other, definition, {});
    await follow(other, id, "running");
    await workWith(other, definition, { leaseMs: LONG_MS });
    const all = await follow(other, id);
    for (const proxy of proxies) proxy.restore();
    expect(all.at(-1)).toMatchObject({ run: { state: "done", epoch: 2, crashes: 1 } });
    const ends = eventsOf(all).filter((event) => event.type === "tool_end");
    expect(ends).toMatchObject([{ outcome: "interrupted" }]);
    expect(calls).toBe(1);
    await expect.poll(() => isTold).toBe(true);
    // The worker that was cut off connects anew, and takes runs again.
    const next = await startRun(other, definition, {}, { labels: ["cut off"] });
    expect((await follow(other, next)).at(-1)).toMatchObject({ run: { state: "done" } });
  });
});
