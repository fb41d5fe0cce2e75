import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { McpHttpServer } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import type { ServerOptions } from "../src/config/options.js";
import { fixtureServer, lockServers } from "./harness.js";

const run = promisify(execFile);

// The built pack: what it loads with the first call is loaded from files.
const SCRIPT = `
  import { closeSync, openSync } from "node:fs";
  const [core, pack, directory, servers, left] = process.argv.slice(1);
  const { Conversation, createToolRegistry } = await import(core);
  const mcp = await import(pack);
  const registry = createToolRegistry(new Conversation(), [[mcp, { servers: JSON.parse(servers) }]], {
    host: { baseDirectory: directory },
  });
  const taken = [];
  try { for (;;) taken.push(openSync(".", "r")); } catch {}
  for (const descriptor of taken.splice(0, Number(left))) closeSync(descriptor);
  const first = await registry.run("mcp__docs__echo", { a: 1 });
  for (const descriptor of taken) closeSync(descriptor);
  const second = await registry.run("mcp__docs__echo", { a: 1 });
  await registry.dispose();
  console.log(JSON.stringify([first.text, second.text]));
`;

/** What the first call, with few file descriptors left, and the second one answered. */
async function callTwice(servers: Record<string, ServerOptions>, directory: string, left: number) {
  const limited = `ulimit -n 256 && exec "$0" --input-type=module -e "$@"`;
  const modules = ["../../core/dist/index.js", "../dist/index.js"].map(
    (path) => new URL(path, import.meta.url).href,
  );
  const args = [SCRIPT, ...modules, directory, JSON.stringify(servers), String(left)];
  const { stdout } = await run("bash", ["-c", limited, process.execPath, ...args]);
  const [first, second]: string[] = JSON.parse(stdout);
  return { first, second };
}

test("causes no lasting harm if a first call of a program has too few file descriptors", async () => {
  const servers = { docs: fixtureServer() };
  const { directory } = await lockServers(servers);
  // Each number of descriptors that are left gets the call stuck at another place.
  for (let left = 0; left < 14; left++) {
    const { first, second } = await callTwice(servers, directory, left);
    if (left === 0) expect(first).toMatch(/MCP server "docs": .*EMFILE/);
    expect(second, `${left} descriptors`).toBe('{"a":1}');
  }
}, 120_000);

test("causes no lasting harm if a first call of a server on HTTP has too few file descriptors", async () => {
  const fixture = await McpHttpServer.start();
  onTestFinished(() => fixture.close());
  const servers = { docs: { url: fixture.url, enable: true as const } };
  const { directory } = await lockServers(servers);
  for (const left of [0, 1, 5, 20, 40, 60, 80, 100, 127, 128, 132, 140]) {
    const { first, second } = await callTwice(servers, directory, left);
    if (left === 0) expect(first).toMatch(/MCP server "docs": .*EMFILE/);
    expect(second, `${left} descriptors`).toBe('{"a":1}');
  }
}, 120_000);
