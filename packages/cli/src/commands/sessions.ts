import { escapeToLine } from "@agent/internal";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, print } from "../process/output.js";
import { searchSessions } from "../sessions/searchSessions.js";
import { listSessions, type SessionInfo } from "../sessions/sessions.js";
import { enterDirectory } from "../settings/workingDirectory.js";

export interface SessionsFlags {
  readonly json?: boolean;
  readonly cwd?: string;
}

/** `agent sessions`: lists the conversations saved for this directory, last used first. */
export async function sessionsCommand(flags: SessionsFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  return printSessions(await listSessions(process.cwd()), flags, "No sessions for this directory yet.");
}

/** `agent sessions search WORDS`: lists those that contain all of the words. */
export async function searchCommand(words: readonly string[], flags: SessionsFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const wanted = words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== "");
  if (wanted.length === 0) throw new CliError("sessions search: name at least one word to look for.");
  const found = await searchSessions(process.cwd(), wanted);
  return printSessions(found, flags, "No session of this directory has all of these words.");
}

function printSessions(
  sessions: readonly (SessionInfo & { readonly match?: string })[],
  { json }: SessionsFlags,
  none: string,
): ExitCode {
  if (json) {
    print(`${JSON.stringify({ v: 1, sessions }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (sessions.length === 0) {
    print(`${none}\n`);
    return EXIT.done;
  }
  const rows = sessions.map(({ id, savedAt, messages, name, title, match }) => [
    id,
    localTime(savedAt),
    String(messages),
    escapeToLine((name ?? title).replace(/\s+/g, " ").trim()).slice(0, 70),
    ...(match === undefined ? [] : [escapeToLine(match)]),
  ]);
  const isSearch = sessions.some(({ match }) => match !== undefined);
  const headings = ["SESSION", "SAVED", "MESSAGES", "NAME OR FIRST WORDS"];
  print(columns(rows, isSearch ? [...headings, "SAID"] : headings));
  print("\nTo resume one: agent --resume SESSION\n");
  return EXIT.done;
}

/** `2026-03-01 09:05`, in the time zone of the user. */
function localTime(iso: string): string {
  const date = new Date(iso);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace("T", " ");
}
