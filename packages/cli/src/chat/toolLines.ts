import type { ToolInfo } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { cutToWidth } from "../display/width.js";
import type { ChatSettings } from "./types.js";

/** What `/tools` shows: every tool in two lines, what it does and why it is on or off. */
export function toolLines(
  tools: readonly ToolInfo[],
  { explain, confirm }: Pick<ChatSettings, "explain" | "confirm">,
  switched: ReadonlyMap<string, boolean>,
  columns: number,
): string[] {
  if (tools.length === 0) return ["There are no tools: no pack is loaded."];
  const longest = Math.max(...tools.map(({ name }) => name.length));
  return tools.flatMap((tool) => {
    const why = switched.has(tool.name) ? "switched in this chat" : explain(tool);
    const facts = [why, tool.capabilities.join(", "), ...(confirm.has(tool.name) ? ["asks first"] : [])];
    const [summary = ""] = tool.description.split("\n");
    return [
      `  ${tool.enabled ? "on " : "off"}  ${tool.name.padEnd(longest)}  ${escapeToLine(facts.filter(Boolean).join(" · "))}`,
      `       ${" ".repeat(longest)}  ${escapeToLine(summary)}`,
    ].map((line) => cutToWidth(line, columns));
  });
}
