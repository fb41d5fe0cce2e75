import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { expect, test } from "vitest";
import { compareTools, differingParts } from "../src/lock/compare.js";
import { readLock } from "../src/lock/lockFile.js";
import {
  fixtureServer,
  lockServers,
  notes,
  processesWith,
  registryOf,
  temporaryDirectory,
} from "./harness.js";

test("starts nothing until a tool is called", async () => {
  const log = join(temporaryDirectory(), "log");
  const servers = { docs: fixtureServer({ log }) };
  const { directory } = await lockServers(servers);
  const before = notes(log).length;
  const registry = registryOf(servers, { directory });
  expect(registry.getToolNames()).toContain("mcp__docs__echo");
  await registry.services.loaded();
  expect(notes(log).length).toBe(before);
});

test("keeps a tool off until the user enables it", async () => {
  const servers = { docs: fixtureServer({}, { enable: [] }) };
  const { directory } = await lockServers(servers);
  const registry = registryOf(servers, { directory });
  expect(await registry.execute("mcp__docs__echo", {})).toBe("Tool not available: mcp__docs__echo");
  registry.enable("mcp__docs__echo");
  expect(await registry.execute("mcp__docs__echo", { a: 1 })).toBe('{"a":1}');
});

test("ignores a server's readOnlyHint; only the user can declare that a tool reads", async () => {
  const tools = ["a", "b", "c"].map((name) => ({
    name,
    annotations: { readOnlyHint: true, destructiveHint: name === "c" },
  }));
  const servers = { docs: fixtureServer({ tools }, { readOnly: ["b"] }) };
  const { directory } = await lockServers(servers);
  const registry = registryOf(servers, { directory });
  expect(registry.getCapabilities("mcp__docs__a")).toEqual(["write", "network"]);
  expect(registry.getCapabilities("mcp__docs__b")).toEqual(["read"]);
  expect(registry.getCapabilities("mcp__docs__c")).toContain("destroy");
});

test("offers no tools of a server without a lock, and the diagnosis names what to run", async () => {
  const registry = registryOf({ docs: fixtureServer() }, { directory: temporaryDirectory() });
  expect(registry.getToolNames()).toEqual(["save_session_context"]);
  expect(await registry.services.diagnose()).toEqual([
    {
      subject: "MCP server docs",
      ok: false,
      detail: "its tools have not been approved yet",
      hint: 'Run "agent mcp update docs".',
    },
  ]);
});

test("does not apply a lock to another command of the same name", async () => {
  const { directory } = await lockServers({ docs: fixtureServer() });
  const registry = registryOf({ docs: fixtureServer({ other: true }) }, { directory });
  expect(registry.hasTool("mcp__docs__echo")).toBe(false);
  expect((await registry.services.diagnose())[0]?.detail).toContain("its command or address is not the one");
});

test("turns off a tool whose lock was edited by hand, and keeps the others", async () => {
  const servers = { docs: fixtureServer({ tools: [{ name: "echo" }, { name: "fails" }] }) };
  const { directory } = await lockServers(servers);
  const path = join(directory, "mcp.lock.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("does echo", "sends your files away"));
  const registry = registryOf(servers, { directory });
  expect(registry.hasTool("mcp__docs__echo")).toBe(false);
  expect(registry.hasTool("mcp__docs__fails")).toBe(true);
  expect((await registry.services.diagnose())[0]?.detail).toContain('the lock of "echo" was edited');
});

test.each(["", "{", "[]", '{"lockVersion":2}', '{"lockVersion":1,"servers":{"docs":{}}}'])(
  "reports a damaged lock (%j) with one clear error",
  (text) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "mcp.lock.json"), text);
    expect(() => registryOf({ docs: fixtureServer() }, { directory })).toThrow(
      /mcp\.lock\.json.* is damaged/,
    );
  },
);

test.each([1, { prompt: "x" }, { prompt: 7, description: 3, arguments: [{}] }])(
  "reports a lock with %j as a prompt as damaged, and nothing else goes wrong",
  async (prompt) => {
    const servers = { docs: fixtureServer() };
    const { directory, locked } = await lockServers(servers);
    const edited = { lockVersion: 1, servers: { docs: { ...locked.docs, prompts: [prompt] } } };
    writeFileSync(join(directory, "mcp.lock.json"), JSON.stringify(edited));
    expect(() => registryOf(servers, { directory })).toThrow(/mcp\.lock\.json.* is damaged/);
  },
);

test("does not run a tool that differs from the lock, and turns it off from then on", async () => {
  const approved = fixtureServer({ tools: [{ name: "echo" }, { name: "fails" }] });
  const { directory, locked } = await lockServers({ docs: approved });
  const changed = fixtureServer({
    tools: [{ name: "echo", description: "something new" }, { name: "fails" }],
  });
  // The same command in the lock: as if the program itself had changed.
  const lock = readLock(join(directory, "mcp.lock.json"));
  const { sourceHash } = await import("../src/lock/lockFile.js");
  const docs = { ...locked.docs, source: sourceHash(changed) };
  writeFileSync(join(directory, "mcp.lock.json"), JSON.stringify({ ...lock, servers: { docs } }));
  const registry = registryOf({ docs: changed }, { directory });
  const result = await registry.run("mcp__docs__echo", {});
  expect(result).toMatchObject({ outcome: "error" });
  expect(result.text).toContain('"agent mcp update docs"');
  expect(registry.isToolEnabled("mcp__docs__echo")).toBe(false);
  expect((await registry.run("mcp__docs__fails", {})).text).toBe("it went wrong");
});

test("turns off a tool that changes while the server runs", async () => {
  const servers = { docs: fixtureServer({ tools: [{ name: "echo" }, { name: "changes" }] }) };
  const { directory } = await lockServers(servers);
  const registry = registryOf(servers, { directory });
  await registry.run("mcp__docs__changes", {});
  while (registry.isToolEnabled("mcp__docs__echo")) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(registry.isToolEnabled("mcp__docs__changes")).toBe(true);
});

test("names what changed in differences", async () => {
  const { locked: before } = await lockServers({
    docs: fixtureServer({ tools: [{ name: "a" }, { name: "b" }] }),
  });
  const { locked: after } = await lockServers({
    docs: fixtureServer({ tools: [{ name: "b", description: "new" }, { name: "c" }] }),
  });
  const found = compareTools(before.docs?.tools ?? [], after.docs?.tools ?? []);
  expect(found.added.map(({ tool }) => tool)).toEqual(["c"]);
  expect(found.removed.map(({ tool }) => tool)).toEqual(["a"]);
  const [changed] = found.changed;
  expect(changed && differingParts(changed.before, changed.after)).toEqual([
    { part: "description", before: "does b", after: "new" },
  ]);
});

test("passes a server the safe list and what the user named, and nothing else", async () => {
  process.env.OPENAI_API_KEY = "sk-never-passed-on";
  process.env.FIXTURE_NAMED = "passed-on-value";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the pack replaces them
  const env = { FIXTURE_NAMED: "${FIXTURE_NAMED}", OTHER: "${FIXTURE_ABSENT:-fallback}" };
  const servers = { docs: fixtureServer({ tools: [{ name: "environment" }] }, { env }) };
  const { directory } = await lockServers(servers);
  const seen: unknown = JSON.parse(
    await registryOf(servers, { directory }).execute("mcp__docs__environment", {}),
  );
  expect(isRecord(seen) && Object.keys(seen)).toContain("PATH");
  expect(seen).toMatchObject({ FIXTURE_NAMED: "passed-on-value", OTHER: "fallback" });
  expect(JSON.stringify(seen)).not.toContain("sk-never-passed-on");
  expect(readFileSync(join(directory, "mcp.lock.json"), "utf8")).not.toContain("passed-on-value");
});

test("names in an error a variable that is not set", async () => {
  await expect(lockServers({ docs: fixtureServer({}, { env: ["FIXTURE_NOT_SET"] }) })).rejects.toThrow(
    "The environment variable FIXTURE_NOT_SET is not set",
  );
});

test.each([
  [{ servers: { "a b": { command: "x" } } }, /server name "a b"/],
  [{ servers: { a__b: { command: "x" } } }, /server name "a__b"/],
  [{ servers: { a: {} } }, /"command" to start or a "url"/],
  [
    { servers: { a: { comand: "x" } } },
    /option "servers\.a\.comand" is not known\. Did you mean "command"\?/,
  ],
  [{ servers: { a: { url: "https://x", command: "y" } } }, /option "servers\.a\.command" is not known/],
  [{ servers: { a: null } }, /@agent\/tools-mcp: option "servers\.a" must be an object, got null\./],
  [{ servers: { a: { url: "ftp://x" } } }, /http or https/],
  [{ servers: { a: { url: "https://user:password@x" } } }, /holds a password/],
  [
    { servers: { a: { command: "x", timeoutMs: "1" } } },
    /option "servers\.a\.timeoutMs" must be a number, got string "1"\./,
  ],
  [
    { servers: { a: { command: "x", args: ["y", 1] } } },
    /option "servers\.a\.args\[1\]" must be a string, got number 1\./,
  ],
  [{ servers: { a: { command: "x", enable: [""] } } }, /option "servers\.a\.enable\[0\]" must not be empty/],
  [
    { servers: { a: { command: "x", enable: false } } },
    /option "servers\.a\.enable" must be true, or must be an array of strings/,
  ],
  [
    { servers: { a: { command: "x", env: { A: 1 } } } },
    /option "servers\.a\.env\.A" must be a string, got number 1\./,
  ],
  [{ servers: { a: { command: "x", readOnly: "y" } } }, /option "servers\.a\.readOnly" must be an array/],
  [
    { servers: { a: { url: "https://x", oauth: { callbackPort: 0 } } } },
    /option "servers\.a\.oauth\.callbackPort" must be at least 1, got 0\./,
  ],
  [
    { servers: { a: { url: "https://x", oauth: { clientID: "x" } } } },
    /option "servers\.a\.oauth\.clientID" is not known\. Did you mean "clientId"\?/,
  ],
  [{ maxSchemaShare: 2 }, /option "maxSchemaShare" must be at most 1, got 2\./],
  [{ servers: [] }, /option "servers" must be an object/],
  [{ sevrers: {} }, /sevrers/],
])("refuses the options %j", (options, message) => {
  const directory = temporaryDirectory();
  expect(() => registryOf({}, { directory, options: options as never })).toThrow(message);
});

test("leaves no process of the fixtures", () => {
  expect(
    processesWith("fixtures/server.mjs").filter((pid) => processesWith(String(process.pid)).includes(pid)),
  ).toEqual([]);
});
