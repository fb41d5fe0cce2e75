import { statSync } from "node:fs";
import { CliError } from "../process/errors.js";

/** `--cwd`: changes the working directory, so that everything else is relative to it. */
export function enterDirectory(path: string | undefined): void {
  if (path === undefined) return;
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError(`--cwd ${path}: there is no such directory.`);
  }
  process.chdir(path);
}
