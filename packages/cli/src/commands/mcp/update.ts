import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type * as Manage from "@agent/tools-mcp/manage";
import type { ToolDifferences } from "@agent/tools-mcp/manage";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { configuredServers, type McpFlags, selectServers } from "./servers.js";

const SHOWN_BEFORE_DIFFERENCE = 60;

/** `agent mcp update [server]`: shows how the tools differ from what was agreed to, and agrees after a yes. */
export async function mcpUpdate(name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const { manage, servers, host, lockFile } = await configuredServers(flags);
  const updated: string[] = [];
  for (const [server, options] of selectServers(servers, name)) {
    const { locked } = await manage.inspectServer(server, options, host);
    const lock = manage.readLock(lockFile);
    const before = lock.servers[server];
    const { added, removed, changed } = manage.compareTools(before?.tools ?? [], locked.tools);
    showTools(server, { added, removed, changed }, manage);
    const isSame = before?.source === locked.source && added.length + removed.length + changed.length === 0;
    if (isSame && JSON.stringify(before) === JSON.stringify(locked)) continue;
    if (!isSame && !flags.yes) {
      if (!canAsk()) {
        throw new CliError(
          `agent mcp update: there is no terminal to ask on. Look at the differences, then run it with --yes.`,
          EXIT.refused,
        );
      }
      if (!(await askYesNo(`Agree to these tools of ${server}?`))) continue;
    }
    await manage.writeLock(lockFile, { ...lock, servers: { ...lock.servers, [server]: locked } });
    updated.push(server);
  }
  if (flags.json) print(`${JSON.stringify({ v: 1, lockFile, updated }, undefined, 2)}\n`);
  else
    print(updated.length === 0 ? "Nothing was changed.\n" : `Updated ${updated.join(", ")} in ${lockFile}\n`);
  return EXIT.done;
}

/** Prints a server's tools, or how they differ from what was agreed to. */
export function showTools(
  server: string,
  { added, removed, changed }: ToolDifferences,
  { differingParts }: Pick<typeof Manage, "differingParts">,
): void {
  for (const { tool, description } of added) note(`+ ${server} ${escapeToLine(tool)}: ${shown(description)}`);
  for (const { tool } of removed) note(`- ${server} ${escapeToLine(tool)}`);
  for (const { before, after } of changed) {
    note(`~ ${server} ${escapeToLine(after.tool)}`);
    for (const one of differingParts(before, after)) {
      const from = firstDifference(one.before, one.after);
      note(
        `    ${one.part} was: ${shown(one.before, from)}\n    ${one.part} is now: ${shown(one.after, from)}`,
      );
    }
  }
}

/** A text on one line, cut to where it differs: a person must see what they agree to. */
function shown(text: string, from = 0): string {
  const start = Math.max(0, from - SHOWN_BEFORE_DIFFERENCE);
  return escapeToLine(truncateUtf8(start > 0 ? `…${text.slice(start)}` : text, 300));
}

function firstDifference(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}
