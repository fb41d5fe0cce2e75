import type { Diagnosis, ExecutableTool, PackHost, PackRegistry, PackServices } from "@agent/core";
import { errorMessage, quote } from "@agent/core/toolkit";
import type { McpOptions } from "../config/options.js";
import { differsText } from "../lock/approval.js";
import type { Lock } from "../lock/lock.js";
import { schemaTokens } from "../tokens.js";
import { callToolTool, findToolsTool } from "../tools/deferredTools.js";
import type { McpTool } from "../tools/mcpTool.js";
import { RESOURCE_TOOL, resourceTool } from "../tools/resourceTool.js";
import type { ApprovedServer } from "./approvedServer.js";
import { ApprovedServers } from "./approvedServers.js";

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
  const servers = new ApprovedServers(options, host, (server, differing) =>
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

const NONE = "[]";

/** The tools of servers in one registry. */
class RegisteredTools {
  /** Above this many tokens of schemas, tools are searched for instead of sent. */
  readonly #maxTokens: number;
  /** The names of the servers in the resource tool, as JSON. */
  #resourceServers = NONE;
  #given: readonly McpTool[] = [];
  #tools: readonly McpTool[] = [];
  #isDeferred = false;
  #names: readonly string[] = [];
  #problems: readonly Diagnosis[] = [];

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /** What could not be registered, and why. */
  get problems(): readonly Diagnosis[] {
    return this.#problems;
  }

  /** Offers the resource tool if an enabled server has resources. */
  updateResources(registry: PackRegistry, servers: () => readonly ApprovedServer[]): void {
    const names = JSON.stringify(servers().map(({ name }) => name));
    if (names === this.#resourceServers) return;
    if (this.#resourceServers !== NONE) registry.unregister(RESOURCE_TOOL);
    this.#resourceServers = names;
    if (names === NONE) return;
    const enabled = servers().some(({ options: { enable } }) => enable === true);
    registry.register(resourceTool(servers), { enabled });
  }

  /** Registers new tools and removes old ones; a tool that is the same object stays. */
  update(registry: PackRegistry, tools: readonly McpTool[]): void {
    if (tools.length === this.#given.length && tools.every((tool, at) => tool === this.#given[at])) return;
    const isDeferred =
      schemaTokens(tools.filter(({ isOn }) => isOn).map(({ locked }) => locked)) > this.#maxTokens;
    const kept = isDeferred === this.#isDeferred ? this.#tools.filter((tool) => tools.includes(tool)) : [];
    const keptNames = new Set(kept.map(({ name }) => name));
    for (const name of this.#names) if (!keptNames.has(name)) registry.unregister(name);
    const problems: Diagnosis[] = [];
    const registered = tools.filter((tool) => {
      if (kept.includes(tool)) return true;
      try {
        registry.register(tool, { enabled: tool.isOn, deferred: isDeferred });
        return true;
      } catch (error) {
        // One tool that cannot be registered must not prevent the others.
        const detail = `${quote(tool.locked.tool)} is set aside: ${errorMessage(error)}`;
        problems.push({ subject: `MCP server ${tool.server.name}`, ok: false, detail });
        return false;
      }
    });
    const finders: ExecutableTool[] = isDeferred
      ? [findToolsTool(registered, (name) => registry.isToolEnabled(name)), callToolTool(registered)]
      : [];
    for (const finder of finders) registry.register(finder);
    this.#given = tools;
    this.#tools = registered;
    this.#isDeferred = isDeferred;
    this.#names = [...registered, ...finders].map(({ name }) => name);
    this.#problems = problems;
  }

  /** Withholds the tools of a server that differ from the approved ones; the others keep the user's setting. */
  withhold(registry: PackRegistry, server: ApprovedServer, differing: readonly string[]): void {
    for (const { name, locked, server: own } of this.#tools) {
      if (own !== server) continue;
      if (differing.includes(locked.tool)) registry.withhold?.(name, differsText(server.name, locked.tool));
      else registry.release?.(name);
    }
  }
}
