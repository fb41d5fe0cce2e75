import {
  defineTool,
  type ExecutableTool,
  type JsonSchema,
  type ToolCapability,
  type ToolKind,
} from "@agent/core";
import { escapeInvisible, isRecord, quote } from "@agent/core/toolkit";
import type { ApprovedServer } from "../approved/approvedServer.js";
import type { LockedTool } from "../lock/lock.js";

/** A tool of a server, as it is in the lock. Calling it starts the server if needed. */
export interface McpTool extends ExecutableTool {
  readonly locked: LockedTool;
  readonly server: ApprovedServer;
  /** Whether the server's `enable` option enables it. */
  readonly isOn: boolean;
}

export function mcpTool(locked: LockedTool, server: ApprovedServer): McpTool {
  const { name, tool: ownName, description, title, inputSchema, outputSchema, annotations } = locked;
  const { enable, readOnly = [] } = server.options;
  const capabilities = capabilitiesOf(locked, readOnly);
  const kind = kindOf(capabilities);
  const caution = `the server ${quote(server.name)} says that ${quote(ownName)} may destroy data`;
  const isDestructive = annotations?.destructiveHint === true && kind !== "read";
  // The default values of required arguments: models omit such arguments.
  const defaults = defaultsOf(inputSchema);
  const tool = defineTool({
    name,
    // Invisible and bidirectional characters could show the user something else than the model reads.
    description: escapeInvisible(description || title || ownName),
    input: withOptional(inputSchema, defaults),
    capabilities,
    // The capabilities are only an upper bound, so no kind can be derived from them.
    kind,
    titleFrom: titleArguments(inputSchema),
    // The connection has its own deadline, which progress resets.
    deadlineMs: Number.POSITIVE_INFINITY,
    // Only the server knows the targets of a call. Its own annotations can only make a host more careful.
    describe: () => (isDestructive ? { caution } : {}),
    async execute(input, call) {
      const given: Record<string, unknown> = { ...input };
      for (const [argument, value] of defaults) given[argument] ??= structuredClone(value);
      return await (await server.use(call.signal)).callTool(locked, given, call);
    },
  });
  const isOn = enable === true || (enable?.includes(ownName) ?? false);
  return Object.assign(tool, { locked, server, isOn, ...(outputSchema && { outputSchema }) });
}

/**
 * The capabilities of a tool: everything, unless the user declared it read-only. The server's annotations can add to
 * it, never remove.
 */
function capabilitiesOf({ tool, annotations }: LockedTool, readOnly: readonly string[]): ToolCapability[] {
  if (readOnly.includes(tool)) return ["read"];
  return annotations?.destructiveHint === true ? ["write", "destroy", "network"] : ["write", "network"];
}

function kindOf(capabilities: readonly ToolCapability[]): ToolKind {
  if (capabilities.includes("destroy")) return "delete";
  return capabilities.every((one) => one === "read") ? "read" : "other";
}

/** The arguments that name a call: the first required string, or else the first string. */
function titleArguments({ properties, required }: JsonSchema): readonly string[] {
  const texts = Object.entries(isRecord(properties) ? properties : {})
    .filter(([, property]) => isRecord(property) && property.type === "string")
    .map(([name]) => name);
  const first = texts.find((name) => Array.isArray(required) && required.includes(name)) ?? texts[0];
  return first === undefined ? [] : [first];
}

function defaultsOf({ properties, required }: JsonSchema): ReadonlyMap<string, unknown> {
  const defaults = new Map<string, unknown>();
  if (!isRecord(properties) || !Array.isArray(required)) return defaults;
  for (const [name, property] of Object.entries(properties)) {
    if (required.includes(name) && isRecord(property) && property.default !== undefined)
      defaults.set(name, property.default);
  }
  return defaults;
}

/** The schema without the filled-in arguments among the required ones. */
function withOptional(schema: JsonSchema, filled: ReadonlyMap<string, unknown>): JsonSchema {
  if (filled.size === 0 || !Array.isArray(schema.required)) return schema;
  return { ...schema, required: schema.required.filter((name) => !filled.has(String(name))) };
}
