import type { PackHost, PackRegistry, PackServices } from "@agent/core";
import { check } from "@agent/core/toolkit";
import { AgreedServers } from "./agreed/agreedServers.js";
import { RegisteredTools } from "./agreed/registeredTools.js";
import { checkedOptions, type McpOptions } from "./config/options.js";
import type { Lock } from "./lock/lock.js";
import { LockFile, lockPath } from "./lock/lockFile.js";

// The context size assumed where the model's is not known: the smallest common one among models that use tools well.
const ASSUMED_CONTEXT_TOKENS = 128_000;
const DEFAULT_SCHEMA_SHARE = 0.1;

/**
 * Registers the tools of the servers in the lock, and follows the lock: what a person agrees to while the agent runs counts
 * from the next request to the model on. Starts nothing: a server starts with the first call of one of its tools. Every
 * tool is off until it is enabled, by the server's own `enable` option or by name.
 */
export function register(registry: PackRegistry, host?: PackHost<McpOptions>): void {
  check.registry(registry);
  const options = checkedOptions(host?.options);
  const file = new LockFile(lockPath(options, host?.baseDirectory ?? process.cwd()));
  const follow = registerServers(registry, options, file.read(), host);
  registry.provide?.({ diagnose: () => file.diagnose() });
  registry.onRefresh?.((late) => {
    const lock = file.readChanged();
    if (lock) follow(late, lock);
  });
}

/** Registers the tools of the servers as far as `lock` has them. Returns what takes another lock in its place. */
export function registerServers(
  registry: PackRegistry,
  options: McpOptions,
  lock: Lock,
  host: PackHost | undefined,
): (registry: PackRegistry, lock: Lock) => void {
  const { maxSchemaShare = DEFAULT_SCHEMA_SHARE } = options;
  const tools = new RegisteredTools((host?.contextTokens ?? ASSUMED_CONTEXT_TOKENS) * maxSchemaShare);
  const servers = new AgreedServers(options, host, (server, differing) =>
    tools.withhold(registry, server, differing),
  );
  const follow = (through: PackRegistry, now: Lock): void => {
    servers.follow(now);
    tools.update(through, servers.tools);
    servers.reconsider();
  };
  follow(registry, lock);
  registry.provide?.({
    get commands() {
      return servers.commands;
    },
    get mentions() {
      return servers.mentions;
    },
    diagnose: () => [...servers.diagnose(), ...tools.problems],
    dispose: () => servers.dispose(),
  } satisfies PackServices);
  return follow;
}
