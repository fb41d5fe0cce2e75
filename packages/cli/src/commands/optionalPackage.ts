import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { resolvePack } from "../assembly/packs/resolve.js";
import { askYesNo, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";

/**
 * Loads a package that the command does not carry, from the project or from beside the command. Without it one line
 * says what to install; in a terminal it is offered.
 */
export async function loadOptional<T>(
  command: string,
  specifier: string,
  directories: readonly string[],
): Promise<T> {
  const name = specifier.split("/").slice(0, 2).join("/");
  const find = () => resolvePack(specifier, [...directories, process.cwd()]);
  let found = find();
  if (!found && canAsk() && (await askYesNo(`${command} needs ${name}. Install it here with npm now?`))) {
    spawnSync("npm", ["install", name], { stdio: "inherit" });
    found = find();
  }
  if (!found)
    throw new CliError(`${command} needs ${name}, which is not installed. Run: npm install ${name}`);
  return (await import(pathToFileURL(found.file).href)) as T;
}
