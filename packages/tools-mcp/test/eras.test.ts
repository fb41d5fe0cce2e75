import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolProgress, UserAnswer, UserQuestion } from "@agent/core";
import { expect, test } from "vitest";
import type { LockedEra } from "../src/lock/lock.js";
import { lockPath, writeLock } from "../src/lock/lockFile.js";
import {
  connected,
  fixtureServer,
  lockServers,
  notes,
  registryOf,
  temporaryDirectory,
  until,
} from "./harness.js";

const PACK_SERVER = fileURLToPath(new URL("fixtures/packServer.mjs", import.meta.url));
const packServer = { command: process.execPath, args: [PACK_SERVER], enable: true } as const;

/** A user who answers yes to everything, with what they were asked. */
function userWith(values: Record<string, unknown>) {
  const asked: UserQuestion[] = [];
  const ask = async (question: UserQuestion): Promise<UserAnswer> => {
    asked.push(question);
    return { answer: "yes", values };
  };
  return { asked, ask };
}

/** A pack on the official SDK, spoken to in the era of the test's choice. */
async function servedPack(kind: LockedEra["kind"], ask?: (question: UserQuestion) => Promise<UserAnswer>) {
  const { directory, locked } = await lockServers({ docs: packServer });
  const { docs } = locked;
  if (docs === undefined) throw new Error("not locked");
  expect(docs.era.kind).toBe("modern");
  const era: LockedEra = kind === "legacy" ? { kind, version: "" } : docs.era;
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: { docs: { ...docs, era } } });
  return registryOf({ docs: packServer }, { directory, ...(ask && { host: { ask } }) });
}

test.each(["legacy", "modern"] as const)(
  "lets a server on the official SDK answer, report progress and ask the user (%s)",
  async (kind) => {
    const { asked, ask } = userWith({ allow: true });
    const registry = await servedPack(kind, ask);
    const told: ToolProgress[] = [];
    const progress = (one: ToolProgress): void => void told.push(one);
    expect(await registry.run("mcp__docs__echo", {}, { progress })).toMatchObject({ text: "echoed" });
    expect(told).toEqual([{ done: 1, message: "working" }]);
    expect(await registry.run("mcp__docs__wipe", {})).toMatchObject({ outcome: "ok", text: "wiped" });
    expect(asked.map(({ source, message }) => [source, message.split("\n")[0]])).toEqual([
      ['the MCP server "docs"', "Allow wipe?"],
    ]);
  },
);

test.each(["legacy", "modern"] as const)(
  "informs a server on the official SDK when no user can be asked (%s)",
  async (kind) => {
    const registry = await servedPack(kind);
    const { outcome, text } = await registry.run("mcp__docs__wipe", {});
    expect({ outcome, text }).toEqual({ outcome: "error", text: "Tool call denied: no one approved it." });
  },
);

test("answers a question of the new era by repeating the call with the server's own state", async () => {
  const { asked, ask } = userWith({ name: "Ada" });
  const behaviour = { modern: true, handshake: false, tools: [{ name: "asks" }] };
  const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask } });
  const { text } = await registry.run("mcp__docs__asks", {});
  expect(JSON.parse(text)).toEqual({
    inputResponses: { who: { action: "accept", content: { name: "Ada" } } },
    requestState: "state-1",
  });
  expect(asked.length).toBe(1);
});

test("gives up a server that never stops asking", async () => {
  const { asked, ask } = userWith({ name: "Ada" });
  const behaviour = { modern: true, handshake: false, tools: [{ name: "asks" }], asksForEver: true };
  const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask } });
  expect((await registry.run("mcp__docs__asks", {})).text).toContain("still asks for more after 10 answers");
  expect(asked.length).toBe(10);
});

test("provides no model to a server that asks for one, and reports it in the call", async () => {
  const behaviour = {
    modern: true,
    handshake: false,
    tools: [{ name: "asks" }],
    asksFor: "sampling/createMessage",
  };
  const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask: userWith({}).ask } });
  const { outcome, text } = await registry.run("mcp__docs__asks", {});
  expect(outcome).toBe("error");
  expect(text).toContain('"sampling/createMessage", which it does not get');
});

test("turns off a tool that changes while a server of the new era runs", async () => {
  const tools = [{ name: "echo" }, { name: "changes" }];
  const behaviour = { modern: true, handshake: false, tools };
  const registry = await connected({ docs: fixtureServer(behaviour) });
  await registry.run("mcp__docs__changes", {});
  await until(() => !registry.isToolEnabled("mcp__docs__echo"));
});

test("reports what to run for a server that has left the era it was approved in", async () => {
  const servers = { docs: fixtureServer({ modern: true, handshake: false }) };
  const { directory, locked } = await lockServers(servers);
  const { docs } = locked;
  if (docs === undefined) throw new Error("The fixture has no lock.");
  const older = { ...docs, era: { kind: "legacy", version: "2025-11-25" } } as const;
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: { docs: older } });
  const { text } = await registryOf(servers, { directory }).run("mcp__docs__echo", {});
  expect(text).toContain('its revision "2025-11-25" wants failed: Method not found');
  expect(text).toContain('"agent mcp update" finds out which');
});

test("names the unknown revision of a server in an error", async () => {
  await expect(connected({ docs: fixtureServer({ version: "1999-01-01" }) })).rejects.toThrow(
    'it speaks the revision "1999-01-01", which is not known',
  );
});

test("answers a ping from a server of the older era, and nothing that it was not offered", async () => {
  const log = join(temporaryDirectory(), "log");
  const registry = await connected({ docs: fixtureServer({ tools: [{ name: "requests" }], log }) });
  const { text } = await registry.run("mcp__docs__requests", {});
  expect(JSON.parse(text)).toEqual({ ping: {}, roots: -32601, sampling: -32601 });
  expect(notes(log).filter(({ method }) => method === "notifications/cancelled")).toEqual([]);
});
