import type { Diagnosis, PackHost, PackRegistry, PackServices } from "@agent/core";
import type { McpOptions } from "../config/options.js";
import type { Lock } from "../lock/lock.js";
import { AgreedServers } from "./agreedServers.js";
import { RegisteredTools } from "./registeredTools.js";

// The context size assumed if the model's is unknown: the smallest common one among models that use tools well.
const ASSUMED_CONTEXT_TOKENS = 128_000;
const DEFAULT_SCHEMA_SHARE = 0.1;

/** Servers whose tools are in a registry. */
export interface RegisteredServers {
  /** Switches to a new lock file. `registry` must still accept registrations. */
  follow(registry: PackRegistry, lock: Lock): void;
  /** The state of each server: what works and what does not. */
  diagnose(): Diagnosis[];
}

/** Registers the tools of the servers that are in `lock`. */
export function registerServers(
  registry: PackRegistry,
  options: McpOptions,
  lock: Lock,
  host: Partial<PackHost> | undefined,
): RegisteredServers {
  const { maxSchemaShare = DEFAULT_SCHEMA_SHARE } = options;
  const tools = new RegisteredTools((host?.model?.contextTokens ?? ASSUMED_CONTEXT_TOKENS) * maxSchemaShare);
  const servers = new AgreedServers(options, host, (server, differing) =>
    tools.withhold(registry, server, differing),
  );
  const follow = (through: PackRegistry, now: Lock): void => {
    servers.follow(now);
    tools.update(through, servers.tools);
    tools.updateResources(through, () => servers.withResources);
    servers.reconsider();
  };
  const diagnose = (): Diagnosis[] => [...servers.diagnose(), ...tools.problems];
  follow(registry, lock);
  registry.provide?.({
    get commands() {
      return servers.commands;
    },
    get mentions() {
      return servers.mentions;
    },
    prompt: () => {
      const text = servers.instructions((name) => registry.isToolEnabled(name));
      return text === undefined ? undefined : { title: "MCP servers", text };
    },
    diagnose,
    dispose: () => servers.dispose(),
  } satisfies PackServices);
  return { follow, diagnose };
}
