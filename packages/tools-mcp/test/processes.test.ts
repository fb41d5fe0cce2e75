import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  connected,
  fixtureServer,
  lockServers,
  processesWith,
  temporaryDirectory,
  until,
} from "./harness.js";

const HOST = fileURLToPath(new URL("fixtures/host.mjs", import.meta.url));

/** A server whose processes can be told from all others. */
function markedServer(behaviour: Record<string, unknown>) {
  const mark = randomUUID();
  return { mark, server: fixtureServer({ ...behaviour, mark }, { env: { FIXTURE_MARK: mark } }) };
}

test.each([
  ["a plain server", {}],
  ["one that ignores the end of its input and SIGTERM", { ignoreEnd: true, ignoreTerm: true }],
  ["one with a grandchild in its own session that ignores SIGTERM", { daemon: true }],
  ["one that does all of that", { daemon: true, ignoreEnd: true, ignoreTerm: true }],
])("leaves nothing of %s when the registry is disposed of", async (_, behaviour) => {
  const { mark, server } = markedServer(behaviour);
  const registry = await connected({ docs: server });
  expect(processesWith(mark)).toEqual([]);
  await registry.run("mcp__docs__echo", {});
  expect(processesWith(mark).length).toBeGreaterThan(0);
  await registry.dispose();
  expect(processesWith(mark)).toEqual([]);
});

test("starts a server in the work tree of the host, unless a config outside of the project names the place", async () => {
  const [project, tree, elsewhere] = [1, 2, 3].map(() => realpathSync(temporaryDirectory())) as [
    string,
    string,
    string,
  ];
  for (const place of [project, tree, elsewhere]) mkdirSync(join(place, "sub"));
  for (const place of [project, tree]) mkdirSync(join(place, "package"));
  mkdirSync(join(tree, ".git"));
  const directory = join(tree, "package");
  const spy = vi.spyOn(process, "cwd").mockReturnValue(join(project, "package"));
  onTestFinished(() => spy.mockRestore());
  for (const [base, cwd, expected] of [
    [project, undefined, tree],
    [project, "sub", join(tree, "sub")],
    [elsewhere, undefined, directory],
    [elsewhere, "sub", join(elsewhere, "sub")],
  ] as const) {
    const { mark, server } = markedServer({});
    const docs = { ...server, ...(cwd !== undefined && { cwd }) };
    const registry = await connected({ docs }, { directory: base, host: { directory } });
    await registry.run("mcp__docs__echo", {});
    expect(processesWith(mark).map((pid) => readlinkSync(`/proc/${pid}/cwd`))).toEqual([expected]);
  }
});

test("kills what a server started when the server dies", async () => {
  const { mark, server } = markedServer({ daemon: true, tools: [{ name: "echo" }, { name: "dies" }] });
  const registry = await connected({ docs: server });
  await registry.run("mcp__docs__echo", {});
  // The server and its grandchild, which has its own session and would stay.
  await until(() => processesWith(mark).length >= 2);
  expect((await registry.run("mcp__docs__dies", {})).outcome).toBe("error");
  await until(() => processesWith(mark).length === 0);
});

test.each(["SIGTERM", "SIGKILL", "exit"])("stops servers with an agent that ends by %s", async (how) => {
  const { mark, server } = markedServer({ daemon: true, ignoreEnd: true, ignoreTerm: true });
  const { directory } = await lockServers({ docs: server });
  const host = spawn(process.execPath, [HOST, directory, JSON.stringify({ docs: server }), how], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(host.stdout, "data");
  expect(processesWith(mark).length).toBeGreaterThan(0);
  if (how === "exit") host.kill("SIGUSR2");
  else host.kill(how as NodeJS.Signals);
  await once(host, "exit");
  await until(() => processesWith(mark).length === 0);
});

test("accepts lines of 60 MiB, and closes the connection with a message for one over 64 MiB", async () => {
  const registry = await connected({ docs: fixtureServer({ tools: [{ name: "long" }] }) });
  expect((await registry.run("mcp__docs__long", { bytes: 60 * 1024 * 1024 })).outcome).toBe("ok");
  expect((await registry.run("mcp__docs__long", { bytes: 65 * 1024 * 1024 })).text).toContain(
    "a line of more than 64 MiB",
  );
});
