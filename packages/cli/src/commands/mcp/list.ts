import { escapeToLine } from "@agent/internal";
import type { ServerOptions } from "@agent/tools-mcp";
import type { LockedServer } from "@agent/tools-mcp/manage";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, print } from "../../process/output.js";
import { offeredServers } from "./add.js";
import { type ConfiguredServers, configuredServers, lockedServer, type McpFlags } from "./servers.js";

/** `agent mcp list`: the servers of the config and what was approved. Starts none of them. */
export async function mcpList(flags: McpFlags): Promise<ExitCode> {
  const { manage, servers, lockFile } = await configuredServers(flags);
  const offered = offeredServers({ manage, servers }, process.cwd());
  const lock = manage.readLock(lockFile);
  const found = Object.entries(servers).map(([name, server]) => {
    const locked = lockedServer(lock, name);
    return {
      name,
      source: escapeToLine(
        manage.isHttp(server) ? server.url : [server.command, ...(server.args ?? [])].join(" "),
      ),
      status: statusOf(name, server, locked, manage),
      revision: locked?.era.version,
      tools: locked?.tools.map(({ name: own }) => own) ?? [],
      tokens: manage.schemaTokens(locked?.tools ?? []),
    };
  });
  if (flags.json) {
    print(`${JSON.stringify({ v: 1, lockFile, servers: found, offered }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (found.length === 0) {
    print("No MCP servers in the config. Add one: agent mcp add npx -y SOME-SERVER\n");
    offer(offered);
    return EXIT.done;
  }
  const rows = found.map(({ name, status, tools, tokens, source }) => [
    name,
    status,
    String(tools.length),
    String(tokens),
    source,
  ]);
  print(columns(rows, ["SERVER", "STATUS", "TOOLS", "TOKENS", "SOURCE"]));
  offer(offered);
  return EXIT.done;
}

function statusOf(
  name: string,
  server: ServerOptions,
  locked: LockedServer | undefined,
  manage: ConfiguredServers["manage"],
): string {
  if (locked === undefined) return "not approved";
  if (locked.source !== manage.sourceHash(server)) return "changed in the config";
  return locked.tools.every((tool) => manage.isGenuine(name, tool)) ? "approved" : "lock edited by hand";
}

/** Reports which servers another tool's file has. They are used only after someone added them. */
function offer(offered: ReturnType<typeof offeredServers>): void {
  for (const { file, servers } of offered) {
    print(`Not used: ${servers.join(", ")} of ${file}. Import them: agent mcp add ${file}\n`);
  }
}
