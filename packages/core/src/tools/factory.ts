import { AgentError } from "../errors.js";
import { describeValue, quote } from "../toolkit/describe.js";
import { nearestMatch } from "../toolkit/nearest.js";
import { registerPack } from "./packs.js";
import { ToolRegistry, type ToolRegistryOptions } from "./registry.js";
import { SaveSessionContextTool } from "./sessionContext.js";
import type { ToolContext, ToolPack } from "./types.js";

/** A pack, or a pack with its options: `fs` or `[fs, { root: "." }]`. */
export type PackEntry = ToolPack | readonly [pack: ToolPack, options: unknown];

export interface CreateRegistryOptions extends ToolRegistryOptions {
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly string[];
  /** Tools to turn off. */
  readonly disable?: readonly string[];
}

/**
 * A registry with core's own `save_session_context` and the tools of the given packs, in that order.
 * Throws if a pack cannot be registered or a name in `enable` or `disable` is unknown.
 */
export function createToolRegistry(
  context: ToolContext,
  packs: readonly PackEntry[] = [],
  options: CreateRegistryOptions = {},
): ToolRegistry {
  if (!Array.isArray(packs)) {
    throw new AgentError("invalid_argument", `packs must be an array of packs, got ${describeValue(packs)}.`);
  }
  const registry = new ToolRegistry(options);
  registry.register(new SaveSessionContextTool(context), { source: "@agent/core" });
  for (const entry of packs) {
    const [pack, packOptions] = isPair(entry) ? entry : [entry, undefined];
    registerPack(registry, pack, { context, options: packOptions });
  }
  switchTools(registry, "enable", options.enable ?? []);
  switchTools(registry, "disable", options.disable ?? []);
  return registry;
}

function isPair(entry: PackEntry): entry is readonly [ToolPack, unknown] {
  return Array.isArray(entry);
}

function switchTools(registry: ToolRegistry, action: "enable" | "disable", names: readonly string[]): void {
  if (!Array.isArray(names)) {
    throw new AgentError(
      "invalid_argument",
      `${action} must be an array of tool names, got ${describeValue(names)}.`,
    );
  }
  for (const [index, name] of names.entries()) {
    if (registry[action](name)) continue;
    const meant = nearestMatch(String(name), registry.getToolNames());
    const hint =
      meant === undefined ? `Known: ${registry.getToolNames().join(", ")}.` : `Did you mean "${meant}"?`;
    throw new AgentError(
      "unknown_tool",
      `${action}[${index}] is ${quote(String(name))}, which no pack declares. ${hint}`,
    );
  }
}
