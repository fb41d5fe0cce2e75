import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Conversation, createToolRegistry, defineTool } from "@agent/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { createConnectionHost } from "../src/connection/connectionHost.js";
import * as mcp from "../src/index.js";
import { examineTools } from "../src/lock/examine.js";
import { inspectServer } from "../src/manage/inspect.js";
import {
  connected,
  fixtureServer,
  lockServers,
  notes,
  processesWith,
  registryOf,
  temporaryDirectory,
} from "./harness.js";

const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name })) });

/** What `agent mcp check` finds out about a server that misbehaves. */
async function inspect(behaviour: Record<string, unknown>) {
  const host = createConnectionHost({ loginFile: "logins.json" }, temporaryDirectory(), undefined);
  return await inspectServer("docs", fixtureServer(behaviour), host);
}

test("uses the first answer of a server that answers twice, which stays usable", async () => {
  const registry = await connected({ docs: fixtureServer(tools("twice", "echo")) });
  expect((await registry.run("mcp__docs__twice", {})).text).toBe("first");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports immediately, not at the deadline, an answer to a request that was never sent", async () => {
  const registry = await connected({ docs: fixtureServer(tools("wrong_id", "echo")) });
  const result = await registry.run("mcp__docs__wrong_id", {});
  expect(result.outcome).toBe("error");
  expect(result.text).toContain('answered a request that was never sent (id "987654")');
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports with a clear error a server that is killed in a call, then restarts it once", async () => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({ docs: fixtureServer({ ...tools("dies", "echo"), log }) });
  const result = await registry.run("mcp__docs__dies", {});
  expect(result).toMatchObject({ outcome: "error" });
  expect(result.text).toContain("it died during the call. It was killed by SIGKILL");
  expect((await registry.run("mcp__docs__echo", { a: 1 })).text).toBe('{"a":1}');
  await registry.run("mcp__docs__dies", {});
  await registry.run("mcp__docs__dies", {});
  const starts = notes(log).filter(({ method }) => method === "initialize").length;
  expect((await registry.run("mcp__docs__dies", {})).text).toContain('"agent mcp check docs"');
  expect(notes(log).filter(({ method }) => method === "initialize").length).toBe(starts);
  // Left alone for a minute, not forever: a user may have fixed it.
  const later = performance.now() + 60_000;
  vi.spyOn(performance, "now").mockReturnValue(later);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await registry.run("mcp__docs__echo", { a: 1 })).text).toBe('{"a":1}');
});

test("ignores noise on standard output", async () => {
  const registry = await connected({ docs: fixtureServer({ noise: "Starting up!\n[1,2\n\n{}" }) });
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("stops after its start time a server that only drips bytes, and reports it", async () => {
  const server = fixtureServer({ drip: true }, { startTimeoutMs: 300 });
  await expect(lockServers({ docs: server })).rejects.toThrow("did not start within 300 ms");
});

test("stops after its time for that a server that never lists its tools, and reports it", async () => {
  const mark = randomUUID();
  const server = fixtureServer({ hangsInList: true, mark }, { listTimeoutMs: 300 });
  await expect(lockServers({ docs: server })).rejects.toThrow("no answer to tools/list within 300 ms");
  expect(processesWith(mark)).toEqual([]);
});

test("ends a call of a server that no longer lists its tools after the time for that, and restarts it with the next one", async () => {
  const toolsFile = join(temporaryDirectory(), "tools.json");
  writeFileSync(toolsFile, '[{"name":"echo"}]');
  const mark = randomUUID();
  // Enough for a server that does list them, on a busy machine.
  const registry = await connected({ docs: fixtureServer({ toolsFile, mark }, { listTimeoutMs: 5000 }) });
  writeFileSync(toolsFile, '"hang"');
  const { outcome, text } = await registry.run("mcp__docs__echo", {});
  expect(outcome).toBe("error");
  expect(text).toContain("no answer to tools/list within 5000 ms");
  expect(processesWith(mark)).toEqual([]);
  writeFileSync(toolsFile, '[{"name":"echo"}]');
  expect((await registry.run("mcp__docs__echo", { a: 1 })).text).toBe('{"a":1}');
});

test("reports the exit of a server that ends immediately, and shows the end of its standard error without its secrets", async () => {
  process.env.FIXTURE_SECRET = "s3cr3t-value-of-the-user";
  const server = fixtureServer(
    { exitAtOnce: 3, stderr: `${"x".repeat(100_000)}\nmy token is s3cr3t-value-of-the-user\u001b[2J\n` },
    { env: ["FIXTURE_SECRET"] },
  );
  const host = createConnectionHost({ loginFile: "logins.json" }, temporaryDirectory(), undefined);
  const error = await inspectServer("docs", server, host).catch((thrown: Error) => thrown.message);
  expect(error).toContain("exit code 3");
  expect(error).toContain("my token is [secret]");
  expect(error).not.toContain("\u001b");
  expect(String(error).length).toBeLessThan(3000);
});

test("names a program that does not exist", async () => {
  const host = createConnectionHost({ loginFile: "logins.json" }, temporaryDirectory(), undefined);
  await expect(inspectServer("docs", { command: "no-such-program-here" }, host)).rejects.toThrow(
    'The program "no-such-program-here" was not found',
  );
});

test("uses the handshake with a server that exits when it is probed", async () => {
  expect((await inspect({ exitOnProbe: true })).locked.era.kind).toBe("legacy");
});

test("sets aside malformed tools with their reason, and uses the others", async () => {
  const { locked } = await inspect({
    raw: [
      { name: "good", inputSchema: { type: "object" } },
      { name: "array", inputSchema: { type: "array" } },
      { name: "none", inputSchema: 7 },
      { inputSchema: { type: "object" } },
      "text",
      { name: "good", inputSchema: { type: "object" } },
      { name: "large", repeat: 2_000_000, inputSchema: { type: "object" } },
      { name: "cycle", inputSchema: { type: "object", properties: { a: { $ref: "#/properties/a" } } } },
      {
        name: "pattern",
        inputSchema: { type: "object", properties: { a: { type: "string", pattern: "(" } } },
      },
    ],
  });
  // A reference to itself says nothing, and is followed no further than that.
  expect(locked.tools.map(({ tool }) => tool)).toEqual(["good", "cycle"]);
  const reasons = Object.fromEntries(locked.setAside.map(({ tool, reason }) => [tool, reason]));
  expect(reasons.array).toContain('"array"');
  expect(reasons.none).toContain("not an object");
  expect(reasons["number 4"]).toContain("name");
  expect(reasons["number 5"]).toContain("not an object");
  expect(reasons.good).toBe("another tool has the same name");
  expect(reasons.large).toContain("2000000 characters");
  expect(reasons.pattern).toBeDefined();
});

test("checks a schema that refers to itself as deep as the arguments are", async () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/node" }, value: { type: "string" } } };
  const inputSchema = { ...node, $defs: { node } };
  const registry = await connected({ docs: fixtureServer({ raw: [{ name: "echo", inputSchema }] }) });
  const args = { next: { next: { value: "deep" } } };
  expect(await registry.run("mcp__docs__echo", args)).toMatchObject({
    outcome: "ok",
    text: JSON.stringify(args),
  });
  const wrong = await registry.run("mcp__docs__echo", { next: { next: { value: 7 } } });
  expect(wrong.outcome).not.toBe("ok");
  expect(wrong.text).toContain("value");
});

test.each([
  ["an empty header name", { a: { type: "string", "x-mcp-header": "" } }],
  ["a header name with a line break", { a: { type: "string", "x-mcp-header": "A\r\nB" } }],
  ["an object as a header", { a: { type: "object", "x-mcp-header": "A" } }],
  ["a header inside a list", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }],
  [
    "a header twice",
    { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } },
  ],
])("sets aside a tool that wants %s", (_, properties) => {
  const listed = [{ name: "bad", inputSchema: { type: "object", properties } }];
  const { tools: found, setAside } = examineTools("docs", listed);
  expect(found).toEqual([]);
  expect(setAside[0]?.reason).toContain("header");
});

test("keeps a thousand of a hundred thousand tools, within the time for listing", async () => {
  const { locked } = await inspect({ many: 100_000 });
  expect(locked.tools.length).toBe(1000);
  expect(locked.setAside.at(-1)?.tool).toBe("99000 more");
});

test("names are mapped to what model APIs accept, always the same and never twice", async () => {
  const names = [
    "read_file",
    "a".repeat(100),
    `${"a".repeat(99)}b`,
    "with spaces",
    "with.spaces",
    "näme",
    "__proto__",
  ];
  const { locked } = await inspect({ raw: names.map((name) => ({ name, inputSchema: { type: "object" } })) });
  const mapped = locked.tools.map(({ name }) => name);
  expect(mapped.length).toBe(names.length);
  expect(new Set(mapped).size).toBe(names.length);
  for (const name of mapped) expect(name).toMatch(/^mcp__docs__[A-Za-z0-9_-]{1,53}$/);
  expect(mapped[0]).toBe("mcp__docs__read_file");
});

test("shows bidirectional and invisible characters in a description instead of following them", async () => {
  const raw = [{ name: "echo", description: "safe\u202edelete\u200b", inputSchema: { type: "object" } }];
  const registry = await connected({ docs: fixtureServer({ raw }) });
  expect(registry.getEnabledSchemas().at(-1)?.function.description).toBe("safe\\u202edelete\\u200b");
});

test("reports an invalid result as an error", async () => {
  const registry = await connected({ docs: fixtureServer(tools("malformed")) });
  expect((await registry.run("mcp__docs__malformed", {})).outcome).toBe("error");
});

test("answers with the other servers while three of ten hang", async () => {
  const good = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`good${n}`, fixtureServer()]));
  const { directory, locked } = await lockServers(good);
  const silent = fixtureServer({ silent: true });
  const { sourceHash, writeLock, lockPath } = await import("../src/lock/lockFile.js");
  const first = locked.good0;
  if (!first) throw new Error("not locked");
  const hanging = Object.fromEntries(
    ["a", "b", "c"].map((name) => [
      name,
      {
        ...first,
        source: sourceHash(silent),
        tools: first.tools.map((tool) => ({ ...tool, name: `mcp__${name}__echo` })),
      },
    ]),
  );
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: { ...locked, ...hanging } });
  const registry = registryOf({ ...good, a: silent, b: silent, c: silent }, { directory });
  const stuck = ["a", "b", "c"].map((name) => registry.run(`mcp__${name}__echo`, {}));
  const results = await Promise.all(Object.keys(good).map((name) => registry.run(`mcp__${name}__echo`, {})));
  expect(results.every(({ outcome }) => outcome === "ok")).toBe(true);
  for (const result of await Promise.all(stuck))
    expect(result.text).toContain("did not start within 15000 ms");
}, 60_000);

test("gives up a server that reports progress forever", async () => {
  const registry = await connected({ docs: fixtureServer(tools("endless"), { timeoutMs: 100 }) });
  const result = await registry.run("mcp__docs__endless", {});
  expect(result.text).toContain("no answer within 100 ms");
});

test("reads the first parts of a result with a flood of them, and counts the rest", async () => {
  const registry = await connected({ docs: fixtureServer(tools("many_parts")) });
  const { text, outcome } = await registry.run("mcp__docs__many_parts", { parts: 20_000 });
  expect(outcome).toBe("ok");
  expect(text).toContain("[19000 more blocks are left out: a result may have 1000]");
});

test("stops a server that asks without an end and reads no answer, and reports it", async () => {
  const registry = await connected({
    docs: fixtureServer({ tools: [{ name: "floods" }, { name: "echo" }] }),
  });
  const result = await registry.run("mcp__docs__floods", {});
  expect(result.outcome).toBe("error");
  expect(result.text).toContain("It does not read its input: 128 MiB are waiting.");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("shortens an error of megabytes", async () => {
  const registry = await connected({ docs: fixtureServer(tools("long_error")) });
  const { outcome, text } = await registry.run("mcp__docs__long_error", { bytes: 5_000_000 });
  expect(outcome).toBe("error");
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
  expect(text).toContain("(MCP error -32603)");
});

test("sets aside a tool whose name another pack has, and reports that", async () => {
  const { directory } = await lockServers({ docs: fixtureServer(tools("echo", "fails")) });
  const other = defineTool({
    name: "mcp__docs__echo",
    description: "Taken",
    input: { type: "object" },
    execute: () => "other",
  });
  const registry = createToolRegistry(
    new Conversation(),
    [
      { packName: "other", register: (view) => view.register(other) },
      [mcp, { servers: { docs: fixtureServer(tools("echo", "fails")) } }],
    ],
    { host: { baseDirectory: directory } },
  );
  onTestFinished(() => registry.dispose());
  expect(registry.getToolNames()).toContain("mcp__docs__fails");
  expect((await registry.run("mcp__docs__echo", {})).text).toBe("other");
  const problems = (await registry.services.diagnose()).filter(({ ok }) => !ok);
  expect(problems.map(({ detail }) => detail).join()).toContain('"echo" is set aside');
});
