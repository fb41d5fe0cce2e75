import type { ChatTool, ExecutableTool, ToolCall, ToolCapability } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type { Progress } from "../connection/protocolClient.js";
import type { ServerConnection } from "../connection/serverConnection.js";
import type { LockedTool } from "../lock/lock.js";
import type { SpillDirectory } from "../results/spill.js";
import { resultText } from "../results/toolResult.js";

/** A tool of a server, as it is in the lock. Calling it starts the server if need be. */
export class McpTool implements ExecutableTool {
  readonly name: string;
  readonly capabilities: readonly ToolCapability[];
  /** The connection has its own deadline, which progress resets. */
  readonly deadlineMs = Number.POSITIVE_INFINITY;
  readonly locked: LockedTool;
  readonly #connection: ServerConnection;
  readonly #spill: SpillDirectory;

  constructor(locked: LockedTool, connection: ServerConnection, spill: SpillDirectory) {
    this.name = locked.name;
    this.locked = locked;
    this.capabilities = capabilitiesOf(locked, connection.options.readOnly ?? []);
    this.#connection = connection;
    this.#spill = spill;
  }

  getSchema(): ChatTool {
    const { description, title, inputSchema } = this.locked;
    // Invisible and bidirectional characters could show a person something else than the model reads.
    const shown = escapeInvisible(description || title || this.locked.tool);
    return { type: "function", function: { name: this.name, description: shown, parameters: inputSchema } };
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const result = await this.#connection.callTool(this.locked, args, {
      signal: call?.signal,
      onProgress: (progress) => call?.onOutput(progressLine(progress)),
    });
    if (result.isError) call?.report?.({ ok: false, summary: "the server reported an error" });
    return resultText(this.name, result, call?.attach, this.#spill);
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

function progressLine({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  const text = typeof message === "string" ? ` ${escapeToLine(truncateUtf8(message, 500))}` : "";
  return `${share}${text}\n`;
}
