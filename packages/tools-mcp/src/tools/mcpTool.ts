import type {
  CallDescription,
  ChatTool,
  ExecutableTool,
  JsonSchema,
  ToolCall,
  ToolCapability,
  ToolKind,
} from "@agent/core";
import { escapeInvisible, isRecord, quote } from "@agent/core/toolkit";
import type { AgreedServer } from "../agreed/agreedServer.js";
import type { LockedTool } from "../lock/lock.js";

/** A tool of a server, as it is in the lock. Calling it starts the server if need be. */
export class McpTool implements ExecutableTool {
  readonly name: string;
  readonly capabilities: readonly ToolCapability[];
  /** The capabilities only say what it may do at most, so that no kind follows from them. */
  readonly kind: ToolKind;
  readonly titleFrom: readonly string[];
  readonly outputSchema?: JsonSchema;
  /** The connection has its own deadline, which progress resets. */
  readonly deadlineMs = Number.POSITIVE_INFINITY;
  readonly locked: LockedTool;
  readonly server: AgreedServer;
  /** The values of required arguments that the server names a default for: models leave such arguments out. */
  readonly #defaults: ReadonlyMap<string, unknown>;

  constructor(locked: LockedTool, server: AgreedServer) {
    this.name = locked.name;
    this.locked = locked;
    this.capabilities = capabilitiesOf(locked, server.options.readOnly ?? []);
    this.kind = kindOf(this.capabilities);
    this.#defaults = defaultsOf(locked.inputSchema);
    this.titleFrom = titleArguments(locked.inputSchema);
    if (locked.outputSchema) this.outputSchema = locked.outputSchema;
    this.server = server;
  }

  /** Whether it is on without being named by the user: the server's `enable` says so. */
  get isOn(): boolean {
    const { enable } = this.server.options;
    return enable === true || (enable?.includes(this.locked.tool) ?? false);
  }

  getSchema(): ChatTool {
    const { description, title, inputSchema } = this.locked;
    // Invisible and bidirectional characters could show a user something else than the model reads.
    const shown = escapeInvisible(description || title || this.locked.tool);
    const parameters = withOptional(inputSchema, this.#defaults);
    return { type: "function", function: { name: this.name, description: shown, parameters } };
  }

  /** What a call acts on is known to the server alone. Its own words can only make a host more careful. */
  describeCall(): CallDescription {
    const { annotations } = this.locked;
    if (annotations?.destructiveHint !== true || this.kind === "read") return {};
    const { tool } = this.locked;
    return { caution: `the server ${quote(this.server.name)} says that ${quote(tool)} may destroy data` };
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const given = { ...args };
    for (const [name, value] of this.#defaults) given[name] ??= structuredClone(value);
    return await (await this.server.use(call?.signal)).callTool(this.locked, given, call);
  }
}

/**
 * What a tool may do: anything, unless the user said that it only reads. What the server says of itself can add to
 * it, never take away.
 */
function capabilitiesOf({ tool, annotations }: LockedTool, readOnly: readonly string[]): ToolCapability[] {
  if (readOnly.includes(tool)) return ["read"];
  return annotations?.destructiveHint === true ? ["write", "destroy", "network"] : ["write", "network"];
}

function kindOf(capabilities: readonly ToolCapability[]): ToolKind {
  if (capabilities.includes("destroy")) return "delete";
  return capabilities.every((one) => one === "read") ? "read" : "other";
}

/** The arguments that name a call: the first required text, or else the first text. */
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

/** The schema without the arguments that are filled in among the required ones. */
function withOptional(schema: JsonSchema, filled: ReadonlyMap<string, unknown>): JsonSchema {
  if (filled.size === 0 || !Array.isArray(schema.required)) return schema;
  return { ...schema, required: schema.required.filter((name) => !filled.has(String(name))) };
}
