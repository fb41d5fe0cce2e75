import { type ExecutableTool, ToolRegistry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { CollectedTool } from "./collect.js";
import type { SeenTool } from "./messages.js";

/** A tool as plain data, valid or not. */
export function describeTool({ tool, enabled }: CollectedTool): SeenTool {
  const { schema, schemaProblem } = readSchema(tool);
  const refusal = refusalOf(tool);
  return {
    name: String(tool?.name),
    enabled,
    capabilities: plain(tool?.capabilities),
    schema,
    ...(schemaProblem !== undefined && { schemaProblem }),
    ...(refusal !== undefined && { refusal }),
  };
}

function readSchema(tool: ExecutableTool): { schema: unknown; schemaProblem?: string } {
  try {
    const text = JSON.stringify(tool.getSchema()) ?? "null";
    const again = JSON.stringify(tool.getSchema()) ?? "null";
    return {
      schema: JSON.parse(text),
      ...(again !== text && { schemaProblem: "getSchema() gives something else the second time" }),
    };
  } catch (error) {
    return { schema: undefined, schemaProblem: `getSchema() failed: ${errorMessage(error)}` };
  }
}

function refusalOf(tool: ExecutableTool): string | undefined {
  try {
    new ToolRegistry().register(tool);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** A copy without functions and other values that cannot be sent to another process. */
export function plain(value: unknown): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return typeof value;
  }
}
