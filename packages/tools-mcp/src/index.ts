/** Any MCP server as a tool pack: `packs: [["@agent/tools-mcp", { servers: { … } }]]`. */
export {
  type HttpServerOptions,
  type McpOptions,
  type OAuthOptions,
  packName,
  type ServerOptions,
  type StdioServerOptions,
} from "./config/options.js";
export { register } from "./pack.js";

export const packApiVersion = 1;
