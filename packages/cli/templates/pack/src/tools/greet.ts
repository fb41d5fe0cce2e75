import type { ChatTool, ExecutableTool } from "@agent/core";
import { functionTool, requireString } from "@agent/core/toolkit";

/** Greets someone. It touches nothing, so it has no capabilities. */
export class GreetTool implements ExecutableTool {
  readonly name = "__PREFIX___greet";
  readonly capabilities = [] as const;

  getSchema(): ChatTool {
    return functionTool(this.name, "Greet someone by name.", {
      who: { type: "string", description: "Whom to greet" },
    });
  }

  async execute(args: Record<string, unknown>): Promise<string> {
    return `Hello, ${requireString(args, "who")}!`;
  }
}
