import { spawnSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "@agent/internal";
import { ownNpm } from "../assembly/packages/npm.js";
import { resolvePack } from "../assembly/packs/resolve.js";
import { askYesNo, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";

/**
 * Loads a package that the command does not carry: from beside the command, or from one of `directories`, which must be
 * trusted, since it is code. Without it one line says what to install; in a terminal it is offered.
 */
export async function loadOptional<T>(
  command: string,
  specifier: string,
  directories: readonly string[],
): Promise<T> {
  const name = specifier.split("/").slice(0, 2).join("/");
  let found = resolvePack(specifier, directories);
  const install = installArguments(name);
  if (!found && canAsk() && (await askYesNo(`${command} needs ${name}. Install it with npm now?`))) {
    const { program, env } = ownNpm();
    spawnSync(program, install, { env, stdio: "inherit" });
    found = resolvePack(specifier, [...directories, process.cwd()]);
  }
  if (!found) {
    throw new CliError(`${command} needs ${name}, which is not installed. Run: npm ${install.join(" ")}`);
  }
  return (await import(pathToFileURL(found.file).href)) as T;
}

/** Beside the command: in the project if that is where it is installed, else for all projects. */
function installArguments(name: string): string[] {
  const isOfProject = isInside(process.cwd(), fileURLToPath(import.meta.url));
  return ["install", ...(isOfProject ? [] : ["--global"]), name];
}
