import { countOf, didYouMean, isRecord, quote } from "@agent/internal";
import { saveSession } from "../conversation/session.js";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { arrayOf, checkObject, invalidArgument, textsOf } from "../toolkit/hostOptions/checks.js";
import { requireString } from "../toolkit/modelArguments/arguments.js";
import { defineTool } from "./defineTool.js";
import type { AgentToolNames, CheckedPacks, PackEntry, PackHost, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";
import { REGISTRY_OPTIONS, ToolRegistry, type ToolRegistryOptions } from "./registry.js";
import type { ExecutableTool, ToolContext } from "./tool.js";

export interface CreateRegistryOptions<Entries extends readonly unknown[] = readonly PackEntry[]>
  extends Omit<ToolRegistryOptions, "only"> {
  /** Only these tools can run, including tools registered later. It does not turn on a disabled tool: `enable` does. */
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

/** The host data for every pack. The rest of `PackHost` is added for each pack. */
export type HostData = Omit<PackHost, "context" | "options" | "secrets" | "state" | "directories" | "agents">;

/**
 * The config files of the `agent` command, protected unless the host passes other names: a program must not change what
 * the command would load in the same project.
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
 * Creates a registry with core's own `save_session_context` and the tools of the given packs, in that order. Throws if
 * a pack cannot be registered or a name in `enable` or `disable` is unknown.
 */
export function createToolRegistry<const Entries extends readonly unknown[]>(
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
  registry.register(saveSessionContextTool(context), { source: "@agent/core" });
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

/** A pack is still loading tools: the name may be one of them, and is applied when it is registered. */
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

// Frozen, so that all instances and their registries share it.
const CAPABILITIES = Object.freeze(["write"] as const);
const SAVE_INPUT = {
  type: "object",
  properties: { reason: { type: "string", description: "Why it is saved now; kept in the file" } },
  required: ["reason"],
  additionalProperties: false,
} as const;
const CONTEXT_KEYS = ["systemPrompt", "sessionContext", "sessionContextFilePath"];

/**
 * Saves the conversation so far, so that it can be loaded and resumed later. Throws unless the context contains a
 * complete session.
 */
export function saveSessionContextTool(context: ToolContext): ExecutableTool {
  checkContext(context);
  return defineTool({
    name: "save_session_context",
    description: "Save the conversation so far to the session file, so that it can be resumed.",
    input: SAVE_INPUT,
    capabilities: CAPABILITIES,
    execute: ({ reason }) => saveConversation(context, requireString({ reason }, "reason")),
  });
}

/** Saves the conversation where it is recorded, or to a separate file. Resolves to the tool's text. */
export async function saveConversation(context: ToolContext, reason: string): Promise<string> {
  const { sessionContext: messages, sessionContextFilePath: path, systemPrompt, pending } = context;
  if (context.save) await context.save(reason);
  else await saveSession(path, { reason, systemPrompt, messages, ...(pending && { pending }) });
  return `Saved ${countOf(messages.length, "message")} to ${path}`;
}

function checkContext(context: ToolContext): void {
  const complete = isRecord(context) && CONTEXT_KEYS.every((key) => key in context);
  if (!complete) throw invalidArgument("context", `a ToolContext with ${CONTEXT_KEYS.join(", ")}`, context);
}
