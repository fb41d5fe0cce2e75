import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
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
function temporaryDirectory(): string {
  // Something may clean up the system's temporary directory while the agent lives.
  if (directory !== undefined && existsSync(directory)) return directory;
  if (directory === undefined) {
    removeAbandoned();
    process.on("exit", removeTemporary);
  }
  directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
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
  try {
    for (const name of readdirSync(tmpdir())) {
      const pid = Number(OURS.exec(name)?.[1]);
      if (!(pid > 0) || isRunning(pid)) continue;
      const path = join(tmpdir(), name);
      if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another agent is cleaning up at the same moment, or it is not ours to look.
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
