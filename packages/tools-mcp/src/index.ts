import { definePack } from "@agent/core";
import { registerServers } from "./approved/registerServers.js";
import { checkServers, OPTIONS, PACK_NAME } from "./config/options.js";
import { LockFile, lockPath } from "./lock/lockFile.js";

/** Makes any MCP server a tool pack: `packs: [["@agent/tools-mcp", { servers: { … } }]]`. */

export type {
  HttpServerOptions,
  McpOptions,
  OAuthOptions,
  ServerOptions,
  StdioServerOptions,
} from "./config/options.js";
export { followsDirectory, packApiVersion, packName, register };

// Its tools are those of the servers, which the compiler does not know.
declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-mcp": { register: typeof register };
  }
}

/**
 * Registers the tools of the servers in the lock. The pack follows the lock: an approval given while the agent runs
 * takes effect with the next model request. Starts nothing: a server starts with the first call of one of its tools.
 * Every tool is disabled until it is enabled, by the server's own `enable` option or by name.
 */
const { packName, packApiVersion, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  followsDirectory: true,
  setup(host, registry) {
    const { options, baseDirectory = process.cwd() } = host;
    checkServers(options);
    const file = new LockFile(lockPath(options, baseDirectory));
    const servers = registerServers(registry, options, file.read(), host);
    registry.onRefresh?.((late) => {
      const lock = file.readChanged();
      if (lock) servers.follow(late, lock);
    });
    // The compiler does not know the names of the tools: they are those of the servers.
    return { tools: [], diagnose: () => file.diagnose() };
  },
});
