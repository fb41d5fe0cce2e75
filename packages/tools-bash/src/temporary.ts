import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-(\d+)-/;

let directory: string | undefined;
let count = 0;

/**
 * A path for a new file in a directory that only this user can read, removed when the agent ends. What an
 * agent that was killed left behind is removed by the next one.
 */
export function temporaryPath(name: string): string {
  return join(temporaryDirectory(), `${++count}-${name}`);
}

/** The directory of `temporaryPath`, created at the first use. */
export function temporaryDirectory(): string {
  if (directory !== undefined) return directory;
  removeAbandoned();
  directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  process.on("exit", removeTemporary);
  return directory;
}

/** The directory if there is one already. */
export function existingTemporaryDirectory(): string | undefined {
  return directory;
}

function removeTemporary(): void {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  directory = undefined;
}

function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(OURS.exec(name)?.[1]);
    if (!(pid > 0) || isRunning(pid)) continue;
    const path = join(tmpdir(), name);
    try {
      if (statSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another agent is cleaning up at the same moment.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
