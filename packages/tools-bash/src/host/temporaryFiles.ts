import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, processTag } from "@agent/internal";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-([0-9a-z]+-\d+)-/;

/** Files of one host, in a directory that only this user can read. */
export class TemporaryFiles {
  #directory: string | undefined;
  #count = 0;

  /**
   * A path for a new file. The directory is made with the first one; directories of agents that were killed are
   * removed at the same time.
   */
  path(name: string, folder: "output" | "pipes" = "output"): string {
    return join(this.#ensureDirectory(), folder, `${++this.#count}-${name}`);
  }

  /**
   * The directory of outputs and scripts, if there is one already: what a command in a sandbox may read. It must not
   * see the pipes: a pipe that is writable to this user can be written through a read-only mount.
   */
  get outputDirectory(): string | undefined {
    return this.#directory === undefined ? undefined : join(this.#directory, "output");
  }

  /** Whether no file of a command is left: output that did not fit into a result, logs, scripts. */
  get isEmpty(): boolean {
    try {
      return this.outputDirectory === undefined || readdirSync(this.outputDirectory).length === 0;
    } catch {
      return true; // somebody else removed it
    }
  }

  /** Removes the directory with everything in it. The next path makes a new one. */
  remove(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  #ensureDirectory(): string {
    // The system's temporary directory may be cleaned up while the agent lives.
    if (this.#directory !== undefined && existsSync(this.#directory)) return this.#directory;
    if (this.#directory === undefined) removeAbandoned();
    const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${processTag()}-`));
    mkdirSync(join(directory, "output"), { mode: 0o700 });
    mkdirSync(join(directory, "pipes"), { mode: 0o700 });
    this.#directory = directory;
    return directory;
  }
}

function removeAbandoned(): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      // Several containers may share the directory: a process that is not visible here may still be alive.
      if (!hasEnded(OURS.exec(name)?.[1] ?? "")) continue;
      const path = join(tmpdir(), name);
      if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another agent is cleaning up at the same moment, or the directory may not be listed.
  }
}
