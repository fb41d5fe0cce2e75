import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { quote } from "@agent/core/toolkit";
import { escapeToLine, quotePath, readRegularFile } from "@agent/internal";
import { findManualInstall } from "../../assembly/packages/manualInstall.js";
import { installPackages, uninstallPackages, withStagedPackage } from "../../assembly/packages/npm.js";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { readConfigText } from "../../settings/config/configText.js";
import { configFile, editConfig, newConfigFile } from "../../settings/config/editConfig.js";
import { addPack, removePack } from "../../settings/config/editPacks.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { entryOf } from "../../settings/packs/entry.js";
import { installedFolder, reachableFolder } from "./installed.js";

// A package's name, optionally with a version or a tag. Nothing else is passed to npm.
const SPECIFIER = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[\w.^~*-]+)?$/i;

export interface PackManageParameters {
  readonly specifier: string;
  readonly directory: string;
  /** For every project of this user, instead of the one here. */
  readonly user: boolean;
  readonly print: (text: string) => void;
}

export interface PackAddParameters extends PackManageParameters {
  /** `--yes`: no question. */
  readonly yes: boolean;
}

/**
 * `agent pack add NAME`: downloads a pack into a private directory, shows what it brings, and after approval installs it
 * and selects it in the config. The project is not touched before.
 */
export async function packAdd(parameters: PackAddParameters): Promise<ExitCode> {
  const { specifier, directory, user, yes } = parameters;
  const name = packageName(specifier);
  if (!yes && !canAsk()) {
    throw new CliError(`There is no terminal to ask on. To add ${name} unattended: --yes`, EXIT.refused);
  }
  const manual = user ? undefined : findManualInstall(directory);
  if (manual === undefined) {
    const place = user ? userPackagesDirectory() : directory;
    return await withStagedPackage(specifier, name, (folder) =>
      examineAndSelect(parameters, name, folder, () => installChecked(name, folder, place, user)),
    );
  }
  const folder = reachableFolder(name, directory);
  if (folder !== undefined) return await examineAndSelect(parameters, name, folder);
  const start = manual.plugAndPlay ? "yarn agent" : "agent";
  throw new CliError(
    `${manual.reason} Run: ${manual.install} ${specifier}, then again: ${start} pack add ${name}`,
  );
}

/** Loads a pack after approval, shows its tools, and after a second approval installs and selects it. */
async function examineAndSelect(
  { directory, user, yes, print }: PackAddParameters,
  name: string,
  folder: string,
  install?: () => Promise<void>,
): Promise<ExitCode> {
  const staged = install !== undefined;
  const unchanged = staged ? "Nothing was installed." : "Nothing was selected.";
  if (!yes && !(await askYesNo(loadQuestion(name, folder, staged)))) {
    print(`${unchanged} No code of ${escapeToLine(name)} ran.\n`);
    return EXIT.done;
  }
  const { inspectPack } = await import("@agent/testing");
  const { tools, problem } = await inspectPack(entryOf(folder));
  if (problem !== undefined) {
    throw new CliError(`${name} is not a pack that works: ${problem} ${unchanged}`);
  }
  print(`${escapeToLine(name)} brings:\n`);
  for (const { name: tool, enabled, capabilities } of tools) {
    const traits = [
      enabled ? "on" : "off until enabled",
      capabilities.join(", ") || "declares no capability",
    ];
    print(`  ${escapeToLine(tool)} (${escapeToLine(traits.join("; "))})\n`);
  }
  const file = configFile(directory, user) ?? newConfigFile(directory, user);
  const question = `${staged ? "Install it with npm, and select" : "Select"} it in ${escapeToLine(file)}?`;
  if (!yes && !(await askYesNo(question))) {
    print(`${unchanged}\n`);
    return EXIT.done;
  }
  await install?.();
  await editConfig(file, (text, kind) => addPack(text, name, kind, [DEFAULT_PACK]), JSON.stringify(name));
  print(`Selected in ${file}. See: agent tools\n`);
  return EXIT.done;
}

function loadQuestion(name: string, folder: string, staged: boolean): string {
  const version = escapeToLine(String(manifestOf(folder).version));
  const where = staged ? "was downloaded" : `is installed in ${escapeToLine(quotePath(folder))}`;
  return [
    `${name} ${version} ${where}.`,
    "Its code runs with your rights to show what it brings.",
    "Load it?",
  ].join("\n");
}

function manifestOf(folder: string): { readonly version?: unknown } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Installs the version that was examined. Throws if other files arrived: a lock file of the project, or a package that
 * it brought along, can put other code in the place of this version.
 */
async function installChecked(name: string, examined: string, place: string, user: boolean): Promise<void> {
  const specifier = `${name}@${manifestOf(examined).version}`;
  packageName(specifier);
  await installPackages(place, [specifier]);
  const folder = installedFolder(name, place);
  if (folder === undefined) throw new CliError(`npm reported success, and ${name} is not in ${place}.`);
  const different = differentFile(examined, folder);
  if (different === undefined) return;
  throw new CliError(
    `${quotePath(join(folder, different))} is not the file that was examined: package-lock.json or node_modules of this project replace ${name}. It is installed, and not selected. To remove it: agent pack remove ${name}${user ? " --user" : ""}`,
    EXIT.refused,
  );
}

/** The first file that two packages do not have in common, without the packages installed inside of them. */
function differentFile(one: string, other: string): string | undefined {
  const files = new Set([...packageFilesOf(one), ...packageFilesOf(other)]);
  return [...files].find((file) => {
    const [bytes, others] = [one, other].map((folder) =>
      readRegularFile(join(folder, file), Number.POSITIVE_INFINITY),
    );
    return bytes === undefined || others === undefined || !bytes.equals(others);
  });
}

function packageFilesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return paths.filter((path) => !path.split(sep).includes("node_modules"));
}

/** `agent pack remove NAME`: removes a pack from the config and uninstalls it. */
export async function packRemove({
  specifier,
  directory,
  user,
  print,
}: PackManageParameters): Promise<ExitCode> {
  const name = packageName(specifier);
  const place = user ? userPackagesDirectory() : directory;
  const file = configFile(directory, user);
  const isNamed = file !== undefined && readConfigText(file).text.includes(name);
  const isInstalled = installedFolder(name, place) !== undefined;
  if (!isNamed && !isInstalled) {
    throw new CliError(`${quote(name)} is neither installed ${user ? "for you" : "here"} nor in the config.`);
  }
  if (file !== undefined && isNamed) {
    await editConfig(file, (text, kind) => removePack(text, name, kind), JSON.stringify(name));
    print(`Taken out of ${file}.\n`);
  }
  const manual = user ? undefined : findManualInstall(place);
  if (isInstalled && manual !== undefined) {
    print(
      `${escapeToLine(name)} is still installed. ${manual.reason} To uninstall it: ${manual.uninstall} ${name}\n`,
    );
    return EXIT.done;
  }
  if (isInstalled) await uninstallPackages(place, [name]);
  print(`${escapeToLine(name)} is removed.\n`);
  return EXIT.done;
}

function packageName(specifier: string): string {
  const name = SPECIFIER.exec(specifier)?.[1];
  if (name !== undefined) return name;
  throw new CliError(
    `${quote(specifier)} is not a package name. Write one such as agent-pack-weather or @me/pack@1.2.0.`,
  );
}
