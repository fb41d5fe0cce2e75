import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, Conversation, createToolRegistry, type PackHost, type ToolRegistry } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { onTestFinished } from "vitest";
import type { ServerOptions, StdioServerOptions } from "../src/config/options.js";
import { createConnectionHost } from "../src/connection/connectionHost.js";
import * as mcp from "../src/index.js";
import type { LockedServer } from "../src/lock/lock.js";
import { lockPath, writeLock } from "../src/lock/lockFile.js";
import { inspectServer } from "../src/manage/inspect.js";

const SERVER = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));

/** The fixture server with a behaviour chosen by the test. */
export function fixtureServer(
  behaviour: Record<string, unknown> = {},
  options: Partial<StdioServerOptions> & Record<string, unknown> = {},
): StdioServerOptions {
  return { command: process.execPath, args: [SERVER, JSON.stringify(behaviour)], enable: true, ...options };
}

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-mcp-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Inspects the servers and approves everything they have. */
export async function lockServers(
  servers: Readonly<Record<string, ServerOptions>>,
  directory = temporaryDirectory(),
): Promise<{ directory: string; locked: Record<string, LockedServer> }> {
  const host = createConnectionHost({ loginFile: "logins.json" }, directory, undefined);
  const locked: Record<string, LockedServer> = {};
  for (const [name, server] of Object.entries(servers)) {
    locked[name] = (await inspectServer(name, server, host)).locked;
  }
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: locked });
  return { directory, locked };
}

export interface RegistryOptions {
  readonly directory: string;
  readonly host?: Partial<PackHost>;
  readonly options?: Partial<mcp.McpOptions>;
}

/** A registry with the pack. Everything is stopped after the test. */
export function registryOf(
  servers: Readonly<Record<string, ServerOptions>>,
  { directory, host, options }: RegistryOptions,
): ToolRegistry {
  const packOptions = { servers, loginFile: "logins.json", ...options };
  const registry = createToolRegistry(new Conversation(), [[mcp, packOptions]], {
    host: { baseDirectory: directory, ...host },
  });
  onTestFinished(() => registry.dispose());
  return registry;
}

/** Locks the servers and passes them to a registry. */
export async function connected(
  servers: Readonly<Record<string, ServerOptions>>,
  options: Partial<RegistryOptions> = {},
): Promise<ToolRegistry> {
  const { directory } = await lockServers(servers, options.directory);
  return registryOf(servers, { ...options, directory });
}

/** An agent with a scripted model. */
export function agentWith(registry: ToolRegistry, answers: readonly ScriptedAnswer[]): Agent {
  return new Agent(scriptedProvider(answers), { registry });
}

/** The pids of processes whose command line or environment holds `text`, zombies left out. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.[0];
        const held = ["cmdline", "environ"].some((file) =>
          readFileSync(`/proc/${pid}/${file}`, "latin1").includes(text),
        );
        return state !== "Z" && held;
      } catch {
        return false;
      }
    });
}

/** Waits until `isTrue`, with a timeout that only guards against hanging. */
export async function until(isTrue: () => boolean, milliseconds = 60_000): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error("It did not happen in time.");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The entries in the fixture's log. */
export function notes(
  log: string,
): { id?: unknown; method?: string; params?: Record<string, unknown>; pid: number }[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
