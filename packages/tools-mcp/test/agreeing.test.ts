// What a user agrees to in another terminal while the chat runs: `agent mcp update` writes the lock.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolRegistry } from "@agent/core";
import { expect, test } from "vitest";
import { lockPath, readLock, writeLock } from "../src/lock/lockFile.js";
import {
  agentWith,
  fixtureServer,
  lockServers,
  notes,
  processesWith,
  registryOf,
  temporaryDirectory,
  until,
} from "./harness.js";

type ListedTool = Readonly<Record<string, unknown>> & { readonly name: string };

const ECHO: ListedTool = {
  name: "echo",
  description: "Repeats its arguments.",
  inputSchema: { type: "object" },
};
const CHANGED: ListedTool = { ...ECHO, description: "Repeats its arguments, loudly." };
const ECHO_NAME = "mcp__docs__echo";

/** A server whose list a test changes, a registry that runs, and a user who agrees to what the server lists. */
async function runningAgent(tools: readonly ListedTool[] = [ECHO], behaviour: Record<string, unknown> = {}) {
  const directory = temporaryDirectory();
  const toolsFile = join(directory, "tools.json");
  const log = join(directory, "log");
  const list = (now: readonly ListedTool[]): void => writeFileSync(toolsFile, JSON.stringify(now));
  list(tools);
  const servers = { docs: fixtureServer({ toolsFile, log, ...behaviour }) };
  const agree = () => lockServers(servers, directory);
  const start = (host = {}) => registryOf(servers, { directory, host });
  const pids = () => new Set(notes(log).flatMap(({ method, pid }) => (method === "tools/call" ? [pid] : [])));
  return { directory, lock: lockPath({}, directory), list, agree, start, pids, log };
}

/** What happens before every request to the model. */
function nextRequest(registry: ToolRegistry): string[] {
  registry.services.refresh();
  return registry
    .getEnabledSchemas()
    .map(({ function: { name } }) => name)
    .filter((name) => name.startsWith("mcp"));
}

test("offers with the next request a changed tool that was approved, and its server continues running", async () => {
  const { list, agree, start, pids } = await runningAgent();
  await agree();
  const registry = start();
  await registry.run(ECHO_NAME, {});
  list([CHANGED]);
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect(registry.describeTools().find(({ name }) => name === ECHO_NAME)?.description).toBe(
    CHANGED.description,
  );
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
  expect(pids().size).toBe(1);
});

test("restarts at the next call a server that still runs as before its change was approved", async () => {
  const mark = crypto.randomUUID();
  const { list, agree, start, pids } = await runningAgent([ECHO], { listOnce: true, mark });
  await agree();
  const registry = start();
  await registry.run(ECHO_NAME, {});
  list([CHANGED]);
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  await until(() => processesWith(mark).length === 0);
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
  expect(pids().size).toBe(2);
});

test("does not stop a server that still runs as before during a call, but after it", async () => {
  const tools = [ECHO, { name: "hangs" }];
  const { list, agree, start, pids, log } = await runningAgent(tools, { listOnce: true });
  await agree();
  const registry = start();
  const controller = new AbortController();
  const hanging = registry.run("mcp__docs__hangs", {}, { signal: controller.signal });
  await until(() => notes(log).some(({ method }) => method === "tools/call"));
  list([CHANGED, { name: "hangs" }]);
  await agree();
  nextRequest(registry);
  // It is asked for its tools again, and still has the old ones.
  const [pid] = pids();
  await until(() => notes(log).filter((one) => one.pid === pid && one.method === "tools/list").length > 1);
  expect((await registry.run(ECHO_NAME, {})).text).toContain("agent mcp update docs");
  controller.abort();
  await hanging;
  await until(() => registry.isToolEnabled(ECHO_NAME));
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
});

test("applies an update in the middle of an answer from the next request on", async () => {
  const { list, agree, start } = await runningAgent([ECHO, { name: "announces" }]);
  await agree();
  const registry = start();
  const sent: string[][] = [];
  const note = (tools: readonly { function: { name: string } }[]) =>
    sent.push(tools.map(({ function: { name } }) => name).filter((name) => name.startsWith("mcp")));
  const later = { name: "later", description: "Comes later.", inputSchema: { type: "object" } };
  const agent = agentWith(registry, [
    async ({ tools }) => {
      note(tools);
      list([CHANGED, { name: "announces" }, later]);
      return { calls: [{ name: "mcp__docs__announces", args: { times: 1 } }] };
    },
    async ({ tools }) => {
      note(tools);
      await until(() => !registry.isToolEnabled(ECHO_NAME));
      await agree();
      return { calls: [{ name: "mcp__docs__announces", args: { times: 1 } }] };
    },
    ({ tools }) => {
      note(tools);
      return { calls: [{ name: ECHO_NAME, args: { a: 1 } }] };
    },
    ({ messages }) => `It said ${JSON.stringify(messages.at(-1)?.content)}`,
  ]);
  expect(await agent.chat("go")).toBe(`It said ${JSON.stringify('{"a":1}')}`);
  expect(sent[0]).toEqual([ECHO_NAME, "mcp__docs__announces"]);
  expect(sent[2]?.sort()).toEqual(["mcp__docs__announces", ECHO_NAME, "mcp__docs__later"]);
});

test("offers with the next request the tools of a server that was not approved before", async () => {
  const { agree, start } = await runningAgent();
  const registry = start();
  expect(nextRequest(registry)).toEqual([]);
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
});

test("keeps a tool off that the user turned off when its change is approved", async () => {
  const { list, agree, start } = await runningAgent();
  await agree();
  const registry = start();
  registry.disable(ECHO_NAME);
  list([CHANGED]);
  await agree();
  expect(nextRequest(registry)).toEqual([]);
  expect(await registry.execute(ECHO_NAME)).toBe(`Tool not available: ${ECHO_NAME}`);
});

test("removes the tools and stops the server when a lock is removed", async () => {
  const mark = crypto.randomUUID();
  const { agree, start, lock } = await runningAgent([ECHO], { mark });
  await agree();
  const registry = start();
  await registry.run(ECHO_NAME, {});
  expect(processesWith(mark)).toHaveLength(1);
  rmSync(lock);
  expect(nextRequest(registry)).toEqual([]);
  await until(() => processesWith(mark).length === 0);
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
});

test("lets no call reach a server that lists something other than its lock approves", async () => {
  const { list, agree, start, lock, log } = await runningAgent();
  list([CHANGED]);
  await agree();
  const other = readLock(lock);
  list([ECHO]);
  await agree();
  const registry = start();
  await registry.run(ECHO_NAME, {});
  await writeLock(lock, other);
  nextRequest(registry);
  // Of the server that runs, and of the one that is started in its place.
  for (let at = 0; at < 2; at++) {
    expect(await registry.execute(ECHO_NAME)).toContain('"agent mcp update docs"');
  }
  expect(registry.isToolEnabled(ECHO_NAME)).toBe(false);
  expect(notes(log).filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

test("ignores a lock that is damaged while the agent runs, and the doctor reports it", async () => {
  const { agree, start, lock } = await runningAgent();
  await agree();
  const registry = start();
  writeFileSync(lock, "{");
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect(await registry.services.diagnose()).toContainEqual({
    subject: "lock of MCP servers",
    ok: false,
    detail: expect.stringContaining("is damaged"),
  });
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect((await registry.services.diagnose()).filter(({ ok }) => !ok)).toEqual([]);
});

test("offers also prompts and resources that were approved", async () => {
  const prompts = [{ name: "review" }];
  const { agree, start } = await runningAgent([ECHO], {
    capabilities: { prompts: {}, resources: {} },
    prompts,
  });
  const registry = start();
  expect(registry.services.commands).toEqual([]);
  await agree();
  nextRequest(registry);
  expect(registry.services.commands.map(({ name }) => name)).toEqual(["docs:review"]);
  expect(registry.services.mentions.map(({ name }) => name)).toEqual(["docs"]);
});

test("defers tools to search when they become too many, and sends them again when they are few", async () => {
  const many = Array.from({ length: 60 }, (_, n) => ({ name: `tool_${n}`, description: "x".repeat(400) }));
  const { list, agree, start } = await runningAgent();
  await agree();
  const registry = start({ model: { provider: "test", id: "test", contextTokens: 40_000 } });
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  list([ECHO, ...many]);
  await agree();
  expect(nextRequest(registry)).toEqual(["mcp_find_tools", "mcp_call_tool"]);
  expect(await registry.execute("mcp_find_tools", { query: "tool_7" })).toContain("mcp__docs__tool_7");
  list([ECHO]);
  await agree();
  expect(nextRequest(registry)).toEqual([ECHO_NAME]);
  expect((await registry.run(ECHO_NAME, { a: 1 })).text).toBe('{"a":1}');
});
