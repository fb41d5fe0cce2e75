import { type RunOptions, ToolRegistry, type ToolResult } from "@agent/core";
import { noteRunning } from "./running.js";

/** A registry that notes which tools are running, for a message about an error nobody caught. */
export class WatchedRegistry extends ToolRegistry {
  override async run(
    name: string,
    args?: Record<string, unknown>,
    options?: RunOptions,
  ): Promise<ToolResult> {
    const finished = noteRunning(name);
    try {
      return await super.run(name, args, options);
    } finally {
      finished();
    }
  }
}
