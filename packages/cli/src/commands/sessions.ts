import { escapeToLine } from "@agent/internal";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, print } from "../process/output.js";
import { listSessions } from "../sessions/sessions.js";
import { enterDirectory } from "../settings/workingDirectory.js";

export interface SessionsFlags {
  readonly json?: boolean;
  readonly cwd?: string;
}

/** `agent sessions`: the conversations kept for this directory, last used first. */
export async function sessionsCommand(flags: SessionsFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const sessions = await listSessions(process.cwd());
  if (flags.json) {
    print(`${JSON.stringify({ v: 1, sessions }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (sessions.length === 0) {
    print("No sessions for this directory yet.\n");
    return EXIT.done;
  }
  const rows = sessions.map(({ id, savedAt, messages, title }) => [
    id,
    savedAt.slice(0, 16).replace("T", " "),
    String(messages),
    escapeToLine(title).slice(0, 70),
  ]);
  print(columns(rows, ["SESSION", "SAVED", "MESSAGES", "BEGAN WITH"]));
  print("\nTo resume one: agent --resume SESSION\n");
  return EXIT.done;
}
