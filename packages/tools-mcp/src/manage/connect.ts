import { type PackHost, registerPack, type ToolRegistry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { registerServers } from "../agreed/registerServers.js";
import { packName, type ServerOptions } from "../config/options.js";
import { createConnectionHost } from "../connection/connectionHost.js";
import type { LockedServer } from "../lock/lock.js";
import { inspectServer } from "./inspect.js";

/**
 * Adds servers that somebody has just agreed to by naming them, such as those of an editor, without a lock file: they
 * are asked for their tools now. Resolves to what is wrong with single servers; the others work.
 */
export async function connectServers(
  registry: ToolRegistry,
  servers: Readonly<Record<string, ServerOptions>>,
  host: PackHost,
  signal?: AbortSignal,
): Promise<string[]> {
  const directory = host.baseDirectory ?? process.cwd();
  const shared = createConnectionHost({}, directory, host.ask);
  const problems: string[] = [];
  const locked: Record<string, LockedServer> = {};
  await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      try {
        locked[name] = (await inspectServer(name, server, shared, signal ? { signal } : {})).locked;
      } catch (error) {
        problems.push(`MCP server ${name}: ${errorMessage(error)}`);
      }
    }),
  );
  registerPack(registry, {
    packName,
    register: (view) => registerServers(view, { servers }, { lockVersion: 1, servers: locked }, host),
  });
  return problems;
}
