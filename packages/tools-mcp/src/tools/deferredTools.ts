import { defineTool } from "@agent/core";
import { didYouMean, isRecord, quote } from "@agent/core/toolkit";
import type { McpTool } from "./mcpTool.js";

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;
const CALL_TOOL = "mcp_call_tool";
const FIND_TOOLS = "mcp_find_tools";

/** Searches the tools whose schemas are not sent with every request, and answers with the schemas of the best. */
export function findToolsTool(tools: readonly McpTool[], isEnabled: (name: string) => boolean) {
  const servers = [...new Set(tools.map(({ name }) => name.split("__")[1]))].join(", ");
  return defineTool({
    name: FIND_TOOLS,
    description: `Find tools of connected servers (${servers}) by what they do. Answers with names, descriptions and argument schemas; call them with ${CALL_TOOL}.`,
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: "What the tool should do, in a few words, or a part of its name",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `Default ${DEFAULT_RESULTS}`,
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    capabilities: ["read"],
    kind: "search",
    titleFrom: "query",
    execute({ query, limit = DEFAULT_RESULTS }) {
      const words = query
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter(Boolean);
      const enabled = tools.filter(({ name }) => isEnabled(name));
      const found = enabled
        .map((tool) => ({ tool, score: scoreOf(tool, words) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score);
      if (found.length === 0) return `None of ${enabled.length} tools fits. Try other words.`;
      const shown = found.slice(0, limit).map(({ tool }) => JSON.stringify(tool.getSchema().function));
      const more =
        found.length > limit
          ? [`[${found.length - limit} more fit: ask for a higher limit or more exact words.]`]
          : [];
      return [...shown, ...more].join("\n");
    },
  });
}

/** Calls a tool that was found by searching. Looked up, approved and shown as that tool. */
export function callToolTool(tools: readonly McpTool[]) {
  const names = new Set(tools.map(({ name }) => name));
  return defineTool({
    name: CALL_TOOL,
    description: `Call a tool found with ${FIND_TOOLS}.`,
    input: {
      type: "object",
      properties: {
        tool: { type: "string", description: "The tool's name" },
        arguments: { type: "object", description: "Its arguments, as its schema says" },
      },
      required: ["tool"],
      additionalProperties: false,
    },
    capabilities: ["write", "network"],
    kind: "other",
    titleFrom: "tool",
    redirect: ({ tool, arguments: args }) =>
      names.has(tool) ? { name: tool, args: isRecord(args) ? args : {} } : undefined,
    execute({ tool }) {
      const hint = didYouMean(tool, names, { otherwise: `Find tools with ${FIND_TOOLS}.` });
      throw new Error(`there is no tool ${quote(tool)} to call. ${hint}`);
    },
  });
}

/** The score of a tool: words in its name count most, then in its description, then in its arguments. */
function scoreOf({ name, locked }: McpTool, words: readonly string[]): number {
  const title = `${name} ${locked.title ?? ""}`.toLowerCase();
  const description = locked.description.toLowerCase();
  const schema = JSON.stringify(locked.inputSchema).toLowerCase();
  return words.reduce(
    (sum, word) =>
      sum + (title.includes(word) ? 4 : description.includes(word) ? 2 : schema.includes(word) ? 1 : 0),
    0,
  );
}
