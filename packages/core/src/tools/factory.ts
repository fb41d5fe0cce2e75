import { didYouMean, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { arrayOf, checkObject, textsOf } from "../toolkit/hostOptions/checks.js";
import type { ExecutableTool } from "./interface.js";
import type { ToolPack } from "./pack.js";
import type { PackHost } from "./packHost.js";
import { registerPack } from "./packs.js";
import type { AgentToolNames, CheckedPacks, PackEntry } from "./packTypes.js";
import { REGISTRY_OPTIONS, ToolRegistry, type ToolRegistryOptions } from "./registry.js";
import { SaveSessionContextTool } from "./sessionContext.js";
import type { ToolContext } from "./types.js";

export interface CreateRegistryOptions<Entries extends readonly PackEntry[] = readonly PackEntry[]>
  extends Omit<ToolRegistryOptions, "only"> {
  /** Only these tools run, also among those that come later. It turns none on that is off: `enable` does. */
  readonly only?: readonly AgentToolNames<Entries>[];
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly AgentToolNames<Entries>[];
  /** Tools to turn off. */
  readonly disable?: readonly AgentToolNames<Entries>[];
  /**
   * The host's data for every pack: protected paths and names, secret variables, access rules. Without
   * `protectedNames` the configs of the `agent` command are protected.
   */
  readonly host?: HostData;
}

/** What a host hands to every pack. The rest of `PackHost` is added for each pack. */
export type HostData = Omit<PackHost, "context" | "options" | "secrets" | "state" | "directories" | "agents">;

/**
 * The configs of the `agent` command, protected unless the host passes names of its own: a program must not change what
 * an agent of the command would load in the same project.
 */
const PROTECTED_NAMES: readonly string[] = [
  "agent.config.ts",
  "agent.config.js",
  "agent.config.mjs",
  "agent.config.json",
  "agent.config.yaml",
  "package.json#agent",
];

const OPTIONS: OptionChecks<CreateRegistryOptions> = {
  ...REGISTRY_OPTIONS,
  enable: textsOf("tool names"),
  disable: textsOf("tool names"),
  host: checkObject,
};

/**
 * A registry with core's own `save_session_context` and the tools of the given packs, in that order.
 * Throws if a pack cannot be registered or a name in `enable` or `disable` is unknown.
 */
export function createToolRegistry<const Entries extends readonly PackEntry[]>(
  context: ToolContext,
  tools?: CheckedPacks<Entries>,
  options?: CreateRegistryOptions<Entries>,
): ToolRegistry;
export function createToolRegistry(
  context: ToolContext,
  tools: readonly PackEntry[] = [],
  options: CreateRegistryOptions = {},
): ToolRegistry {
  arrayOf("packs and tools")("tools", tools);
  checkOptions("createToolRegistry", options, OPTIONS);
  const { enable = [], disable = [], host, ...registryOptions } = options;
  const registry = new ToolRegistry(registryOptions);
  registry.register(new SaveSessionContextTool(context), { source: "@agent/core" });
  for (const entry of tools) {
    if (isTool(entry)) {
      registry.register(entry);
      continue;
    }
    const [pack, packOptions] = isPair(entry) ? entry : [entry, undefined];
    registerPack(registry, pack, { protectedNames: PROTECTED_NAMES, ...host, context, options: packOptions });
  }
  switchTools(registry, "enable", enable);
  switchTools(registry, "disable", disable);
  checkNames(registry, "only", options.only ?? []);
  return registry;
}

/** A pack is still loading tools: the name may be one of them, and counts from the moment it is registered. */
function switchOnArrival(registry: ToolRegistry, action: "enable" | "disable", name: string): void {
  const release = registry.onRegister((tool) => {
    if (tool.name !== name) return;
    release();
    registry[action](name);
  });
}

function isPair(entry: PackEntry): entry is readonly [ToolPack, unknown] {
  return Array.isArray(entry);
}

function isTool(entry: PackEntry): entry is ExecutableTool {
  return typeof (entry as Partial<ExecutableTool> | null)?.execute === "function" && !("register" in entry);
}

function switchTools(registry: ToolRegistry, action: "enable" | "disable", names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (registry[action](name)) continue;
    checkNames(registry, action, names, index);
    switchOnArrival(registry, action, name);
  }
}

/** Throws for a name that no pack declares, unless a pack is still loading tools. */
function checkNames(registry: ToolRegistry, option: string, names: readonly string[], start = 0): void {
  if (registry.services.pending().length > 0) return;
  const index = names.findIndex((name, at) => at >= start && !registry.hasTool(name));
  const name = names[index];
  if (name === undefined) return;
  const hint = didYouMean(name, registry.getToolNames());
  throw new AgentError(
    "unknown_tool",
    `${option}[${index}] is ${quote(name)}, which no pack declares. ${hint}`,
  );
}
