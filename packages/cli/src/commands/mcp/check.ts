import { errorMessage } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print } from "../../process/output.js";
import { configuredServers, lockedServer, type McpFlags, selectServers } from "./servers.js";

/** `agent mcp check [server]`: starts servers and says what works, what was set aside and what it costs. */
export async function mcpCheck(name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const { manage, servers, host, lockFile } = await configuredServers(flags);
  const lock = manage.readLock(lockFile);
  let exitCode: ExitCode = EXIT.done;
  const reports: unknown[] = [];
  for (const [server, options] of selectServers(servers, name)) {
    try {
      const { locked, startMs } = await manage.inspectServer(server, options, host);
      const { added, removed, changed } = manage.compareTools(
        lockedServer(lock, server)?.tools ?? [],
        locked.tools,
      );
      const tokens = manage.schemaTokens(locked.tools);
      const differs = { added, removed, changed: changed.map(({ after }) => after) };
      reports.push({
        server,
        ok: true,
        revision: locked.era.version,
        startMs: Math.round(startMs),
        tokens,
        tools: locked.tools.map(({ tool, name: own }) => ({ tool, name: own })),
        setAside: locked.setAside,
        differs: Object.fromEntries(
          Object.entries(differs).map(([key, tools]) => [key, tools.map(({ tool }) => tool)]),
        ),
      });
      if (flags.json) continue;
      print(
        `✓ ${server}: ${countOf(locked.tools.length, "tool")}, about ${tokens} tokens of schemas, MCP ${locked.era.version}, started in ${Math.round(startMs)} ms\n`,
      );
      for (const { tool, reason } of locked.setAside) print(`    set aside: ${tool}: ${reason}\n`);
      const count = added.length + removed.length + changed.length;
      if (count > 0)
        print(`    ${count} of its tools differ from what was agreed to. Run: agent mcp update ${server}\n`);
    } catch (error) {
      exitCode = error instanceof manage.LoginNeededError ? EXIT.refused : EXIT.tool;
      reports.push({ server, ok: false, problem: errorMessage(error) });
      if (!flags.json) print(`✗ ${server}: ${errorMessage(error)}\n`);
    }
  }
  if (flags.json) print(`${JSON.stringify({ v: 1, servers: reports }, undefined, 2)}\n`);
  return exitCode;
}
