import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "@agent/internal";
import { installPackages } from "../assembly/packages/npm.js";
import { askYesNo, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import { userPackagesDirectory } from "../process/paths.js";
import { resolvePack } from "../settings/packs/resolve.js";

/**
 * Loads an optional package of the command: from one of `directories`, which must be trusted because it is code (see
 * `trustedDirectories`), or from next to the command. If it is missing, one line explains what to install; in a
 * terminal the user is offered to install it for their user only.
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
    (await askYesNo(`${command} needs ${name}. Install it with npm, for your user only?`))
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
 * The directory of the symlink that started the command: the user who ran the command from there trusts it. pnpm stores
 * the command's own files elsewhere, from where the packages installed next to the symlink are not found.
 */
function startDirectory(): string[] {
  const [, started] = process.argv;
  return started === undefined ? [] : [dirname(started)];
}

/** npm's arguments to install next to the command: in the project if the command is installed there, else globally. */
function installArguments(name: string): string[] {
  const isOfProject = isInside(process.cwd(), fileURLToPath(import.meta.url));
  return ["install", ...(isOfProject ? [] : ["--global"]), name];
}
