import { errorMessage } from "@agent/core/toolkit";
import type { LockedServer } from "@agent/tools-mcp/manage";
import { askYesNo, canAsk } from "../../process/ask.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import {
  type ConfiguredServers,
  configuredServers,
  lockedServer,
  type McpFlags,
  selectServers,
} from "./servers.js";
import { showInstructions, showSetAside, showTools } from "./showTools.js";

/** The result for one server, with all differences in full, for `--json`. */
interface UpdatedServer {
  readonly server: string;
  readonly outcome: "same" | "updated" | "declined" | "refused" | "failed";
  readonly problem?: string;
}

/** `agent mcp update [server]`: shows how the tools differ from the approved ones, and records them after approval. */
export async function mcpUpdate(name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const place = await configuredServers(flags);
  const { manage, servers, host, lockFile } = place;
  const results: UpdatedServer[] = [];
  let exitCode: ExitCode = EXIT.done;
  for (const [server, options] of selectServers(servers, name)) {
    try {
      const { locked } = await manage.inspectServer(server, options, host);
      results.push(await updateServer(server, locked, place, flags));
    } catch (error) {
      // One server that does not start must not prevent checking the others.
      exitCode = error instanceof manage.LoginNeededError ? EXIT.refused : EXIT.tool;
      results.push({ server, outcome: "failed", problem: errorMessage(error) });
      note(`✗ ${server}: ${errorMessage(error)}`);
    }
  }
  const updated = results.filter(({ outcome }) => outcome === "updated").map(({ server }) => server);
  if (flags.json) print(`${JSON.stringify({ v: 1, lockFile, updated, servers: results }, undefined, 2)}\n`);
  else if (updated.length > 0) print(`Updated ${updated.join(", ")} in ${lockFile}\n`);
  else print("Nothing was changed.\n");
  if (!results.some(({ outcome }) => outcome === "refused")) return exitCode;
  note("agent mcp update: there is no terminal to ask on. Look at the differences, then run it with --yes.");
  return EXIT.refused;
}

async function updateServer(
  server: string,
  locked: LockedServer,
  { manage, lockFile }: ConfiguredServers,
  flags: McpFlags,
): Promise<UpdatedServer> {
  const before = lockedServer(manage.readLock(lockFile), server);
  const differences = manage.compareTools(before?.tools ?? [], locked.tools);
  const { added, removed, changed } = differences;
  showTools(server, differences, manage);
  if (JSON.stringify(before?.setAside) !== JSON.stringify(locked.setAside)) showSetAside(server, locked);
  showInstructions(server, before?.instructions, locked.instructions);
  const result = {
    server,
    added,
    removed: removed.map(({ tool }) => tool),
    changed: changed.map((one) => ({
      tool: one.after.tool,
      parts: manage.differingParts(one.before, one.after),
    })),
  };
  const isSame =
    before?.source === locked.source &&
    before.instructions === locked.instructions &&
    added.length + removed.length + changed.length === 0;
  if (isSame && JSON.stringify(before) === JSON.stringify(locked)) return { ...result, outcome: "same" };
  if (!isSame && !flags.yes) {
    if (!canAsk()) return { ...result, outcome: "refused" };
    if (!(await askYesNo(`Approve these tools of ${server}?`))) return { ...result, outcome: "declined" };
  }
  // Read again: someone may have approved other tools while the user looked at these.
  const lock = manage.readLock(lockFile);
  await manage.writeLock(lockFile, { ...lock, servers: { ...lock.servers, [server]: locked } });
  return { ...result, outcome: "updated" };
}
