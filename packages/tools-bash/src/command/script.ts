import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { errorMessage } from "@agent/core/toolkit";
import type { TemporaryFiles } from "../host/temporaryFiles.js";

// The kernel refuses a single argument beyond 32 pages; the limits in front of the command need room too.
const MAX_INLINE_BYTES = 120 * 1024;

/** A command in the form the shell gets it: inline, or in a file if it is too long for an argument. */
export interface Script {
  readonly text: string;
  readonly file?: string | undefined;
  /** Removes the file, if there is one. */
  remove(): void;
}

/** Throws if the file for a long command cannot be written. */
export function prepareScript(command: string, files: TemporaryFiles): Script {
  if (Buffer.byteLength(command) <= MAX_INLINE_BYTES) {
    // After -c, shells still look for options: "-x" would be an option, and the next argument the command.
    const text = /^[-+]/.test(command) ? ` ${command}` : command;
    return { text, remove: () => undefined };
  }
  const file = writeScript(command, files);
  return { text: command, file, remove: () => rmSync(file, { force: true }) };
}

function writeScript(command: string, files: TemporaryFiles): string {
  let file: string | undefined;
  try {
    file = files.path("command.sh");
    writeFileSync(file, command, { mode: 0o600, flag: "wx" });
    return file;
  } catch (error) {
    if (file !== undefined) rmSync(file, { force: true });
    throw new Error(
      `A command of ${Buffer.byteLength(command)} bytes has to go through a file in ${tmpdir()}, and that failed: ${errorMessage(error)}. Make room there, set TMPDIR to another directory, or send a shorter command. Nothing was run.`,
    );
  }
}
