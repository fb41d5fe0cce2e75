import { statSync } from "node:fs";
import { CliError } from "../process/errors.js";

/** `--cwd`: goes there, so that everything else counts from it. Without one it stays. */
export function enterDirectory(path: string | undefined): void {
  if (path === undefined) return;
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError(`--cwd ${path}: there is no such directory.`);
  }
  process.chdir(path);
}
