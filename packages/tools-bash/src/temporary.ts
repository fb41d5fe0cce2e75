import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, processTag } from "@agent/core/toolkit";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-([0-9a-z]+-\d+)-/;

let directory: string | undefined;
let count = 0;

/**
 * A path for a new file in a directory that only this user can read, removed when the agent ends. What an
 * agent that was killed left behind is removed by the next one.
 */
export function temporaryPath(name: string, folder: "output" | "pipes" = "output"): string {
  return join(temporaryDirectory(), folder, `${++count}-${name}`);
}

/** The directory of `temporaryPath`, created at the first use. */
function temporaryDirectory(): string {
  // Something may clean up the system's temporary directory while the agent lives.
  if (directory !== undefined && existsSync(directory)) return directory;
  if (directory === undefined) {
    removeAbandoned();
    process.on("exit", removeTemporary);
  }
  directory = mkdtempSync(join(tmpdir(), `${PREFIX}${processTag()}-`));
  mkdirSync(join(directory, "output"), { mode: 0o700 });
  mkdirSync(join(directory, "pipes"), { mode: 0o700 });
  return directory;
}

/**
 * The directory of outputs and scripts, if there is one already: what a command in a sandbox may read. It must not see
 * the pipes: one that is writable to this user can be written through a read-only mount.
 */
export function existingOutputDirectory(): string | undefined {
  return directory === undefined ? undefined : join(directory, "output");
}

function removeTemporary(): void {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  directory = undefined;
}

function removeAbandoned(): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      // Several containers may share the directory: a process that cannot be seen from here may well live.
      if (!hasEnded(OURS.exec(name)?.[1] ?? "")) continue;
      const path = join(tmpdir(), name);
      if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another agent is cleaning up at the same moment, or it is not ours to look.
  }
}
