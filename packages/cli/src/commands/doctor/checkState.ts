import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnosis } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { temporaryName } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { configDirectory, stateDirectory } from "../../process/paths.js";

/** Writes a file where trust and sessions are kept, and removes it again. */
export function checkState(): Diagnosis {
  const directory = stateDirectory();
  try {
    ensurePrivateDirectory(directory);
    const file = join(directory, temporaryName());
    writeFileSync(file, "", { flag: "wx" });
    rmSync(file);
  } catch (error) {
    return {
      subject: "state",
      ok: false,
      detail: `${directory} cannot be written: ${errorMessage(error)}`,
      cure: "Make it writable, or set XDG_STATE_HOME. Until then nothing is remembered: no trust, no sessions.",
    };
  }
  return {
    subject: "state",
    ok: true,
    detail: `trust and sessions in ${directory} (written just now), own config in ${configDirectory()}`,
  };
}
