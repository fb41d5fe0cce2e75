import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, print } from "../../process/output.js";
import { configuredServers, type McpFlags } from "./servers.js";

/** `agent mcp list`: the servers of the config and what was agreed to. Starts none of them. */
export async function mcpList(flags: McpFlags): Promise<ExitCode> {
  const { manage, servers, lockFile } = await configuredServers(flags);
  const lock = manage.readLock(lockFile);
  const found = Object.entries(servers).map(([name, server]) => {
    const locked = lock.servers[name];
    const isCurrent = locked !== undefined && locked.source === manage.sourceHash(server);
    return {
      name,
      source: manage.isHttp(server) ? server.url : server.command,
      status: locked === undefined ? "not agreed to" : isCurrent ? "locked" : "changed in the config",
      revision: locked?.era.version,
      tools: locked?.tools.map(({ name: own }) => own) ?? [],
      tokens: manage.schemaTokens(locked?.tools ?? []),
    };
  });
  if (flags.json) {
    print(`${JSON.stringify({ v: 1, lockFile, servers: found }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (found.length === 0) {
    print("No MCP servers in the config.\n");
    return EXIT.done;
  }
  const rows = found.map(({ name, status, tools, tokens, source }) => [
    name,
    status,
    String(tools.length),
    String(tokens),
    source,
  ]);
  print(columns([["SERVER", "STATUS", "TOOLS", "TOKENS", "SOURCE"], ...rows]));
  return EXIT.done;
}
