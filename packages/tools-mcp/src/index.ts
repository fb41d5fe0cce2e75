/** Any MCP server as a tool pack: `packs: [["@agent/tools-mcp", { servers: { … } }]]`. */
import { register } from "./pack.js";

export {
  type HttpServerOptions,
  type McpOptions,
  type OAuthOptions,
  packName,
  type ServerOptions,
  type StdioServerOptions,
} from "./config/options.js";
export { register };

export const packApiVersion = 1;

// Its tools are those of the servers: no compiler knows their names.
declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-mcp": { register: typeof register };
  }
}
