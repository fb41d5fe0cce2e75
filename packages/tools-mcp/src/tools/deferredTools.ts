import type { ChatTool, ExecutableTool, RedirectedCall } from "@agent/core";
import {
  didYouMean,
  functionTool,
  isRecord,
  optionalInteger,
  quote,
  requireString,
} from "@agent/core/toolkit";
import type { McpTool } from "./mcpTool.js";

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;
const CALL_TOOL = "mcp_call_tool";
const FIND_TOOLS = "mcp_find_tools";

/** Searches the tools whose schemas are not sent with every request, and answers with the schemas of the best. */
export class FindToolsTool implements ExecutableTool {
  readonly name = FIND_TOOLS;
  readonly capabilities = ["read"] as const;
  readonly kind = "search";
  readonly titleFrom = "query";
  readonly #tools: readonly McpTool[];
  readonly #isEnabled: (name: string) => boolean;

  constructor(tools: readonly McpTool[], isEnabled: (name: string) => boolean) {
    this.#tools = tools;
    this.#isEnabled = isEnabled;
  }

  getSchema(): ChatTool {
    const servers = [...new Set(this.#tools.map(({ name }) => name.split("__")[1]))].join(", ");
    return functionTool(
      this.name,
      `Find tools of connected servers (${servers}) by what they do. Answers with names, descriptions and argument schemas; call them with ${CALL_TOOL}.`,
      {
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
      ["limit"],
    );
  }

  async execute(args: Record<string, unknown>): Promise<string> {
    const words = requireString(args, "query", { allowEmpty: true })
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);
    const limit = optionalInteger(args, "limit", DEFAULT_RESULTS);
    const enabled = this.#tools.filter(({ name }) => this.#isEnabled(name));
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
  }
}

/** Calls a tool that was found by searching. Looked up, approved and shown as that tool. */
export class CallToolTool implements ExecutableTool {
  readonly name = CALL_TOOL;
  readonly capabilities = ["write", "network"] as const;
  readonly kind = "other";
  readonly titleFrom = "tool";
  readonly #names: ReadonlySet<string>;

  constructor(tools: readonly McpTool[]) {
    this.#names = new Set(tools.map(({ name }) => name));
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      `Call a tool found with ${FIND_TOOLS}.`,
      {
        tool: { type: "string", description: "The tool's name" },
        arguments: { type: "object", description: "Its arguments, as its schema says" },
      },
      ["arguments"],
    );
  }

  redirect({ tool, arguments: args }: Readonly<Record<string, unknown>>): RedirectedCall | undefined {
    if (typeof tool !== "string" || !this.#names.has(tool)) return undefined;
    return { name: tool, args: isRecord(args) ? args : {} };
  }

  async execute(args: Record<string, unknown>): Promise<string> {
    const tool = requireString(args, "tool", { allowEmpty: true });
    const hint = didYouMean(tool, this.#names, { otherwise: `Find tools with ${FIND_TOOLS}.` });
    throw new Error(`there is no tool ${quote(tool)} to call. ${hint}`);
  }
}

/** How well a tool fits: words in its name count most, then in its description, then in its arguments. */
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
