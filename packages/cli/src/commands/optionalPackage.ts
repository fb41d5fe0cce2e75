import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "@agent/internal";
import { installPackages } from "../assembly/packages/npm.js";
import { askYesNo, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import { userPackagesDirectory } from "../process/paths.js";
import { resolvePack } from "../settings/packs/resolve.js";

/**
 * Loads a package that the command does not carry: from one of `directories`, which must be trusted, since it is code
 * (see `trustedDirectories`), or from beside the command. Without it one line says what to install; in a terminal it is
 * offered, for this person alone.
 */
export async function loadOptional<T>(
  command: string,
  specifier: string,
  directories: readonly string[],
): Promise<T> {
  const name = specifier.split("/").slice(0, 2).join("/");
  const places = [...directories, ...startDirectory()];
  let found = resolvePack(specifier, places);
  if (
    !found &&
    canAsk() &&
    (await askYesNo(`${command} needs ${name}. Install it with npm, for you alone?`))
  ) {
    await installPackages(userPackagesDirectory(), [name]);
    found = resolvePack(specifier, [userPackagesDirectory()]);
  }
  if (!found) {
    throw new CliError(
      `${command} needs ${name}, which is not installed. Run: npm ${installArguments(name).join(" ")}`,
    );
  }
  return (await import(pathToFileURL(found.file).href)) as T;
}

/**
 * The directory through whose links the command was started: whoever ran the command from there trusts it. pnpm keeps the
 * command itself elsewhere, where it does not see the packages that are installed beside it.
 */
function startDirectory(): string[] {
  const [, started] = process.argv;
  return started === undefined ? [] : [dirname(started)];
}

/** Beside the command: in the project if that is where it is installed, else for all projects. */
function installArguments(name: string): string[] {
  const isOfProject = isInside(process.cwd(), fileURLToPath(import.meta.url));
  return ["install", ...(isOfProject ? [] : ["--global"]), name];
}
