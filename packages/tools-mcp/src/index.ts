/** Any MCP server as a tool pack: `packs: [["@agent/tools-mcp", { servers: { … } }]]`. */
import { packApiVersion, packName, register } from "./pack.js";

export type {
  HttpServerOptions,
  McpOptions,
  OAuthOptions,
  ServerOptions,
  StdioServerOptions,
} from "./config/options.js";
export { packApiVersion, packName, register };

// Its tools are those of the servers: no compiler knows their names.
declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-mcp": { register: typeof register };
  }
}
