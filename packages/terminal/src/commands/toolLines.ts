import type { ToolInfo } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import type { ChatSettings } from "../chat/types.js";
import { wrapWords } from "../text/width.js";

const STATE_COLUMNS = 7;
// In a narrower window the second line begins below the name.
const LEAST_TEXT_COLUMNS = 40;

/** What `/tools` shows: every tool with why it is on or off and, below, the first sentence of what it does. */
export function toolLines(
  tools: readonly ToolInfo[],
  { explain, confirm }: Pick<ChatSettings, "explain" | "confirm">,
  switched: ReadonlyMap<string, boolean>,
  columns: number,
): string[] {
  if (tools.length === 0) return ["There are no tools: no pack is loaded."];
  const longest = Math.max(...tools.map(({ name }) => name.length));
  const textColumn = STATE_COLUMNS + longest + 2;
  const indent = columns - textColumn < LEAST_TEXT_COLUMNS ? STATE_COLUMNS : textColumn;
  return tools.flatMap((tool) => {
    const why = tool.withheld ?? (switched.has(tool.name) ? "switched in this chat" : explain(tool));
    const facts = [why, tool.capabilities.join(", "), ...(confirm.has(tool.name) ? ["asks first"] : [])];
    const state = `  ${tool.enabled && tool.withheld === undefined ? "on " : "off"}  ${tool.name.padEnd(longest)}`;
    return [
      ...wrapWords(`${state}  ${escapeToLine(facts.filter(Boolean).join(" · "))}`, columns, indent),
      ...wrapWords(" ".repeat(indent) + escapeToLine(firstSentence(tool.description)), columns, indent),
    ];
  });
}

/** Descriptions are written for a model and can be long. */
function firstSentence(description: string): string {
  const [line = ""] = description.split("\n");
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
}
