import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolProgress } from "@agent/core";
import { expect, test } from "vitest";
import { agentWith, connected, fixtureServer, notes, temporaryDirectory } from "./harness.js";

const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name })) });

test("calls a tool of a server for the model through the Agent", async () => {
  const registry = await connected({ docs: fixtureServer() });
  const agent = agentWith(registry, [{ calls: [{ name: "mcp__docs__echo", args: { a: 1 } }] }, "Done."]);
  expect(await agent.chat("Go.")).toBe("Done.");
  expect(agent.context.sessionContext.find(({ role }) => role === "tool")?.content).toBe('{"a":1}');
});

test.each([
  ["2025-11-25", {}],
  ["2025-06-18", { version: "2025-06-18" }],
  ["2025-03-26", { version: "2025-03-26" }],
  ["2026-07-28", { modern: true, handshake: false }],
])("gets an answer from a server of revision %s", async (version, behaviour) => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({ docs: fixtureServer({ ...behaviour, log }) });
  const before = notes(log).length;
  expect(await registry.run("mcp__docs__echo", { a: 1 })).toMatchObject({ outcome: "ok", text: '{"a":1}' });
  const methods = notes(log)
    .slice(before)
    .map(({ method }) => method);
  // The era is in the lock: no probe, and no handshake where there is none.
  expect(methods).not.toContain("server/discover");
  expect(methods.includes("initialize")).toBe(version !== "2026-07-28");
});

test("returns a server's own error as the outcome error, with its text", async () => {
  const registry = await connected({ docs: fixtureServer(tools("fails")) });
  expect(await registry.run("mcp__docs__fails", {})).toMatchObject({
    outcome: "error",
    text: "it went wrong",
  });
});

test("returns an image as a part of the result", async () => {
  const registry = await connected({ docs: fixtureServer(tools("picture")) });
  const result = await registry.run("mcp__docs__picture", {});
  expect(result).toMatchObject({
    outcome: "ok",
    parts: [{ type: "image", mediaType: "image/png", data: "aGVsbG8=" }],
  });
});

test("returns structured content without text as JSON", async () => {
  const registry = await connected({ docs: fixtureServer(tools("structured")) });
  expect((await registry.run("mcp__docs__structured", {})).text).toBe('{"a":1}');
});

test("shortens a long text, and keeps all of it in a file that is removed with the registry", async () => {
  const registry = await connected({ docs: fixtureServer(tools("long")) });
  const { text } = await registry.run("mcp__docs__long", { bytes: 12_000_000 });
  expect(Buffer.byteLength(text)).toBeLessThan(52_000);
  const path = /The whole result is in (\S+?)\]/.exec(text)?.[1] ?? "";
  expect(readFileSync(path, "utf8")).toBe("x".repeat(12_000_000));
  await registry.dispose();
  expect(existsSync(path)).toBe(false);
});

test("reports progress, which resets the deadline", async () => {
  const registry = await connected({ docs: fixtureServer(tools("progress"), { timeoutMs: 4000 }) });
  const told: ToolProgress[] = [];
  const result = await registry.run(
    "mcp__docs__progress",
    // Longer than the deadline as a whole; each step has three seconds to spare.
    { steps: 4, every: 1000 },
    { progress: (progress) => told.push(progress) },
  );
  expect(result).toMatchObject({ outcome: "ok", text: "done" });
  expect(told).toEqual([1, 2, 3, 4].map((done) => ({ done, total: 4, message: `step ${done}` })));
});

test("ends a call without progress at its deadline and cancels it", async () => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({
    docs: fixtureServer({ ...tools("hangs", "echo"), log }, { timeoutMs: 3000 }),
  });
  const result = await registry.run("mcp__docs__hangs", {});
  expect(result.text).toContain('MCP server "docs": no answer within 3000 ms');
  // The late answer to the cancelled request disturbs no one.
  expect(await registry.run("mcp__docs__echo", { b: 2 })).toMatchObject({ outcome: "ok", text: '{"b":2}' });
  expect(notes(log).map(({ method }) => method)).toContain("notifications/cancelled");
});

test("sends the cancellation on an abort and returns without waiting for the server", async () => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({ docs: fixtureServer({ ...tools("hangs", "echo"), log }) });
  await registry.run("mcp__docs__echo", {});
  const controller = new AbortController();
  const running = registry.run("mcp__docs__hangs", {}, { signal: controller.signal });
  while (!notes(log).some(({ params }) => params?.name === "hangs")) await new Promise(setImmediate);
  controller.abort();
  expect((await running).outcome).toBe("aborted");
  expect(await registry.run("mcp__docs__echo", {})).toMatchObject({ outcome: "ok" });
  expect(notes(log).map(({ method }) => method)).toContain("notifications/cancelled");
});

test("shares one server among fifty simultaneous calls", async () => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({ docs: fixtureServer({ log }) });
  const before = notes(log).length;
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, n) => registry.execute("mcp__docs__echo", { n })),
  );
  expect(results).toEqual(Array.from({ length: 50 }, (_, n) => JSON.stringify({ n })));
  expect(
    new Set(
      notes(log)
        .slice(before)
        .map(({ pid }) => pid),
    ).size,
  ).toBe(1);
});
