import { errorMessage } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import type { ServerOptions } from "@agent/tools-mcp";
import type { Lock, SetAside } from "@agent/tools-mcp/manage";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print } from "../../process/output.js";
import {
  type ConfiguredServers,
  configuredServers,
  lockedServer,
  type McpFlags,
  selectServers,
} from "./servers.js";

/** How many servers are started at the same time. */
const AT_ONCE = 4;

/** The findings about a server, as printed by `--json`. */
type Report =
  | {
      readonly server: string;
      readonly ok: true;
      readonly revision: string;
      readonly startMs: number;
      readonly tokens: number;
      readonly tools: readonly { readonly tool: string; readonly name: string }[];
      readonly setAside: readonly SetAside[];
      readonly differs: Readonly<Record<"added" | "removed" | "changed", readonly string[]>>;
    }
  | { readonly server: string; readonly ok: false; readonly problem: string };

/** `agent mcp check [server]`: starts servers and reports what works, what was set aside and what it costs. */
export async function mcpCheck(name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const configured = await configuredServers(flags);
  const lock = configured.manage.readLock(configured.lockFile);
  const failures = new Set<ExitCode>();
  const waiting = selectServers(configured.servers, name);
  const checking: Promise<Report>[] = [];
  for (const [index, [server, options]] of waiting.entries()) {
    const room = checking[index - AT_ONCE] ?? Promise.resolve();
    checking.push(
      room.then(() => checkServer(server, options, lock, configured, (code) => failures.add(code))),
    );
  }
  const reports: Report[] = [];
  // In the order of the config, each as soon as those before it are known.
  for (const checked of checking) {
    const report = await checked;
    reports.push(report);
    if (!flags.json) print(lines(report));
  }
  if (flags.json) print(`${JSON.stringify({ v: 1, servers: reports }, undefined, 2)}\n`);
  // A missing login counts only if nothing else is wrong.
  return [EXIT.tool, EXIT.refused].find((code) => failures.has(code)) ?? EXIT.done;
}

async function checkServer(
  server: string,
  options: ServerOptions,
  lock: Lock,
  { manage, host }: ConfiguredServers,
  onFailure: (code: ExitCode) => void,
): Promise<Report> {
  try {
    const { locked, startMs } = await manage.inspectServer(server, options, host);
    const agreed = lockedServer(lock, server)?.tools ?? [];
    const { added, removed, changed } = manage.compareTools(agreed, locked.tools);
    return {
      server,
      ok: true,
      revision: locked.era.version,
      startMs: Math.round(startMs),
      tokens: manage.schemaTokens(locked.tools),
      tools: locked.tools.map(({ tool, name }) => ({ tool, name })),
      setAside: locked.setAside,
      differs: {
        added: added.map(({ tool }) => tool),
        removed: removed.map(({ tool }) => tool),
        changed: changed.map(({ after }) => after.tool),
      },
    };
  } catch (error) {
    onFailure(error instanceof manage.LoginNeededError ? EXIT.refused : EXIT.tool);
    return { server, ok: false, problem: errorMessage(error) };
  }
}

function lines(report: Report): string {
  if (!report.ok) return `✗ ${report.server}: ${report.problem}\n`;
  const { server, tools, tokens, revision, startMs, setAside, differs } = report;
  const count = Object.values(differs).flat().length;
  return [
    `✓ ${server}: ${countOf(tools.length, "tool")}, about ${tokens} tokens of schemas, MCP ${revision}, started in ${startMs} ms`,
    ...setAside.map(({ tool, reason }) => `    set aside: ${tool}: ${reason}`),
    ...(count > 0
      ? [`    ${count} of its tools differ from what was approved. Run: agent mcp update ${server}`]
      : []),
    "",
  ].join("\n");
}
