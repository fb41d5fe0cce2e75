// An MCP server with one tool, on standard input and output. Plain JavaScript, so that `node` runs it without a build.
import { Conversation, createToolRegistry, defineTool } from "@agent/core";
import { toMcpServer } from "@agent/tools-mcp/server";

const price = defineTool({
  name: "price",
  description: "What an article costs.",
  input: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
  execute: ({ article }) => `${article}: 12 euros`,
});

await toMcpServer(createToolRegistry(new Conversation(), [price])).serveStdio();
