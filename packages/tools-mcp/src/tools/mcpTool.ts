import type { ChatTool, ExecutableTool, ToolCall, ToolCapability, ToolKind } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import type { AgreedServer } from "../agreed/agreedServer.js";
import type { LockedTool } from "../lock/lock.js";

/** A tool of a server, as it is in the lock. Calling it starts the server if need be. */
export class McpTool implements ExecutableTool {
  readonly name: string;
  readonly capabilities: readonly ToolCapability[];
  /** The capabilities only say what it may do at most, so that no kind follows from them. */
  readonly kind: ToolKind;
  /** The connection has its own deadline, which progress resets. */
  readonly deadlineMs = Number.POSITIVE_INFINITY;
  readonly locked: LockedTool;
  readonly server: AgreedServer;

  constructor(locked: LockedTool, server: AgreedServer) {
    this.name = locked.name;
    this.locked = locked;
    this.capabilities = capabilitiesOf(locked, server.options.readOnly ?? []);
    this.kind = this.capabilities.every((one) => one === "read") ? "read" : "other";
    this.server = server;
  }

  /** Whether it is on without being named by the user: the server's `enable` says so. */
  get isOn(): boolean {
    const { enable } = this.server.options;
    return enable === true || (enable?.includes(this.locked.tool) ?? false);
  }

  getSchema(): ChatTool {
    const { description, title, inputSchema } = this.locked;
    // Invisible and bidirectional characters could show a person something else than the model reads.
    const shown = escapeInvisible(description || title || this.locked.tool);
    return { type: "function", function: { name: this.name, description: shown, parameters: inputSchema } };
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    return await (await this.server.use(call?.signal)).callTool(this.locked, args, call);
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
