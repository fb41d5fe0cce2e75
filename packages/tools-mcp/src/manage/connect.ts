import { type Diagnosis, type PackHost, registerPack, type ToolRegistry } from "@agent/core";
import { errorMessage, quote } from "@agent/core/toolkit";
import { registerServers } from "../approved/registerServers.js";
import { checkServerOptions, PACK_NAME, type ServerOptions } from "../config/options.js";
import { createConnectionHost } from "../connection/connectionHost.js";
import type { LockedServer, SetAside } from "../lock/lock.js";
import { inspectServer } from "./inspect.js";

/** How many unusable tools of a server are named; the others are counted. */
const MOST_NAMED = 5;

/**
 * Adds servers that the user has just approved by naming them, such as those of an editor, without a lock file: they
 * are asked for their tools now. Resolves to the problems of single servers and tools; the others work.
 */
export async function connectServers(
  registry: ToolRegistry,
  servers: Readonly<Record<string, ServerOptions>>,
  host: PackHost,
  signal?: AbortSignal,
): Promise<string[]> {
  const directory = host.baseDirectory ?? process.cwd();
  const shared = createConnectionHost({}, directory, host.ask, host.directory);
  const problems: string[] = [];
  const connected: Record<string, ServerOptions> = {};
  const locked: Record<string, LockedServer> = {};
  await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      try {
        checkServerOptions(name, server);
        const found = (await inspectServer(name, server, shared, signal ? { signal } : {})).locked;
        connected[name] = server;
        locked[name] = found;
        problems.push(...setAsideLines(name, found.setAside));
      } catch (error) {
        problems.push(`MCP server ${name}: ${errorMessage(error)}`);
      }
    }),
  );
  let diagnoses: readonly Diagnosis[] = [];
  registerPack(registry, {
    packName: PACK_NAME,
    followsDirectory: true,
    register: (view) => {
      const lock = { lockVersion: 1, servers: locked } as const;
      diagnoses = registerServers(view, { servers: connected }, lock, host).diagnose();
    },
  });
  const wrong = diagnoses.filter(({ ok }) => !ok);
  for (const subject of new Set(wrong.map((one) => one.subject))) {
    const details = wrong.filter((one) => one.subject === subject).map(({ detail }) => detail);
    problems.push(...firstLines(subject, details));
  }
  return problems;
}

function setAsideLines(server: string, setAside: readonly SetAside[]): string[] {
  return firstLines(
    `MCP server ${server}`,
    setAside.map(({ tool, reason }) => `${quote(tool)} is set aside: ${reason}`),
  );
}

function firstLines(subject: string, details: readonly string[]): string[] {
  const lines = details.slice(0, MOST_NAMED).map((detail) => `${subject}: ${detail}`);
  const left = details.length - lines.length;
  return left > 0 ? [...lines, `${subject}: ${left} more are set aside`] : lines;
}
