/** Tool packs as an MCP server: `toMcpServer(registry).serveStdio()`. */
export type { HttpOptions, HttpServerHandle } from "./http.js";
export { type CallDecision, type McpServerOptions, type McpToolServer, toMcpServer } from "./toMcpServer.js";
