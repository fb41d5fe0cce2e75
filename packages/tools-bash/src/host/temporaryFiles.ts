import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, processTag } from "@agent/core/toolkit";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-([0-9a-z]+-\d+)-/;

/** Files of one host, in a directory that only this user can read. */
export class TemporaryFiles {
  #directory: string | undefined;
  #count = 0;

  /**
   * Returns a path for a new file. The directory is created with the first one; directories of killed agents are
   * removed at the same time.
   */
  path(name: string, folder: "output" | "pipes" = "output"): string {
    return join(this.#ensureFolder(folder), `${++this.#count}-${name}`);
  }

  /**
   * The directory of outputs and scripts, if it exists: a sandboxed command may read it. It must not contain the pipes:
   * a pipe that is writable to this user can be written through a read-only mount.
   */
  get outputDirectory(): string | undefined {
    const folder = this.#directory === undefined ? undefined : join(this.#directory, "output");
    return folder !== undefined && existsSync(folder) ? folder : undefined;
  }

  /** Whether no file of a command is left: truncated output, logs, scripts. */
  get isEmpty(): boolean {
    const folder = this.outputDirectory;
    try {
      return folder === undefined || readdirSync(folder).length === 0;
    } catch {
      return false; // it cannot be listed now, for lack of a file descriptor
    }
  }

  /** Removes the directory with everything in it. The next path creates a new one. */
  remove(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  #ensureFolder(name: "output" | "pipes"): string {
    const folder = join(this.#ensureDirectory(), name);
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  /** Creates the directory again if a cleanup of the system's temporary directory removed it. */
  #ensureDirectory(): string {
    if (this.#directory !== undefined && existsSync(this.#directory)) return this.#directory;
    if (this.#directory === undefined) removeAbandoned();
    this.#directory = mkdtempSync(join(tmpdir(), `${PREFIX}${processTag()}-`));
    return this.#directory;
  }
}

function removeAbandoned(): void {
  for (const name of temporaryNames()) {
    // Several containers may share the directory: a process that is not visible here may still be alive.
    if (hasEnded(OURS.exec(name)?.[1] ?? "")) removeOwn(join(tmpdir(), name));
  }
}

function temporaryNames(): string[] {
  try {
    return readdirSync(tmpdir());
  } catch {
    return []; // it may not be listed
  }
}

function removeOwn(path: string): void {
  try {
    if (lstatSync(path).uid === (process.getuid?.() ?? 0)) rmSync(path, { recursive: true, force: true });
  } catch {
    // Another agent is cleaning up at the same moment.
  }
}
