import { hashOf } from "./canonical.js";
import type { LockedTool } from "./lock.js";

/** The hash of a tool's definition, which a user approves. */
export function toolHash(tool: Omit<LockedTool, "hash" | "name">): string {
  const { tool: name, title, description, inputSchema, outputSchema, annotations } = tool;
  return hashOf({ name, title, description, inputSchema, outputSchema, annotations });
}
