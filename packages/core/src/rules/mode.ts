import type { ToolCapability } from "../tools/tool.js";

/** How much an agent may do without asking, from least to most. */
export const MODES = ["plan", "ask", "edits", "auto"] as const;
export type Mode = (typeof MODES)[number];

export function onlyReads(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read");
}

export function onlyEdits(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read" || one === "write");
}
