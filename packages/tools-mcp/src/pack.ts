import type { PackHost, PackRegistry } from "@agent/core";
import { check } from "@agent/core/toolkit";
import { registerServers } from "./agreed/registerServers.js";
import { checkedOptions, type McpOptions } from "./config/options.js";
import { LockFile, lockPath } from "./lock/lockFile.js";

/**
 * Registers the tools of the servers in the lock, and follows the lock: what a user agrees to while the agent runs counts
 * from the next request to the model on. Starts nothing: a server starts with the first call of one of its tools. Every
 * tool is off until it is enabled, by the server's own `enable` option or by name.
 */
export function register(registry: PackRegistry, host?: PackHost<McpOptions>): void {
  check.registry(registry);
  const options = checkedOptions(host?.options);
  const file = new LockFile(lockPath(options, host?.baseDirectory ?? process.cwd()));
  const servers = registerServers(registry, options, file.read(), host);
  registry.provide?.({ diagnose: () => file.diagnose() });
  registry.onRefresh?.((late) => {
    const lock = file.readChanged();
    if (lock) servers.follow(late, lock);
  });
}
