// A server on the official SDK with one tool that answers with its arguments, for bench/mcp.mjs.
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const from = createRequire(fileURLToPath(new URL("../../packages/tools-mcp/package.json", import.meta.url)));
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const { Server } = await load("@modelcontextprotocol/server");
const { StdioServerTransport } = await load("@modelcontextprotocol/server/stdio");

const server = new Server({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/list", () => ({
  tools: [{ name: "echo", description: "Answers with its arguments.", inputSchema: { type: "object" } }],
}));
server.setRequestHandler("tools/call", ({ params }) => ({
  content: [{ type: "text", text: JSON.stringify(params.arguments ?? {}) }],
}));
await server.connect(new StdioServerTransport());
