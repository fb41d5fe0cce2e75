import { existsSync } from "node:fs";
import { join } from "node:path";
import { quote } from "@agent/core/toolkit";
import { escapeToLine, quotePath } from "@agent/internal";
import { installPackages, uninstallPackages } from "../../assembly/packages/npm.js";
import { findOtherManager } from "../../assembly/packages/otherManager.js";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { readConfigText } from "../../settings/config/configText.js";
import { configFile, editConfig, newConfigFile } from "../../settings/config/editConfig.js";
import { addPack, removePack } from "../../settings/config/editPacks.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { entryOf } from "../../settings/packs/entry.js";
import { installedFolder } from "./installed.js";

// A package's name, optionally with a version or a tag. Nothing else is passed to npm.
const SPECIFIER = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[\w.^~*-]+)?$/i;

export interface PackManageParameters {
  readonly specifier: string;
  readonly directory: string;
  /** For every project of this person, instead of the one here. */
  readonly user: boolean;
  readonly print: (text: string) => void;
}

export interface PackAddParameters extends PackManageParameters {
  /** `--yes`: no question. */
  readonly yes: boolean;
}

/** `agent pack add NAME`: installs a pack, shows what it brings, and selects it in the config after a yes. */
export async function packAdd({
  specifier,
  directory,
  user,
  yes,
  print,
}: PackAddParameters): Promise<ExitCode> {
  const name = packageName(specifier);
  if (!yes && !canAsk()) {
    throw new CliError(`There is no terminal to ask on. To add ${name} unattended: --yes`, EXIT.refused);
  }
  const place = user ? userPackagesDirectory() : directory;
  const folder = await install(specifier, name, place, user);
  if (!yes && !(await askYesNo(loadQuestion(name, folder, place)))) {
    print(`It is installed, and nothing of it ran. ${undoHint(name, user)}\n`);
    return EXIT.done;
  }
  const { inspectPack } = await import("@agent/testing");
  const { tools, problem } = await inspectPack(entryOf(folder));
  if (problem !== undefined) {
    throw new CliError(`${name} is installed, and is no pack that works: ${problem} ${undoHint(name, user)}`);
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
  if (!yes && !(await askYesNo(`Select it in ${escapeToLine(file)}?`))) {
    print(`It is installed, and not selected. ${undoHint(name, user)}\n`);
    return EXIT.done;
  }
  await editConfig(file, (text, kind) => addPack(text, name, kind, [DEFAULT_PACK]), JSON.stringify(name));
  print(`Selected in ${file}. See: agent tools\n`);
  return EXIT.done;
}

/** A project may bring the package along, or have npm fetch it elsewhere: the person decides before its code runs. */
function loadQuestion(name: string, folder: string, place: string): string {
  const lines = [`${name} is installed in ${escapeToLine(quotePath(folder))}.`];
  const settings = join(place, ".npmrc");
  if (existsSync(settings)) {
    lines.push(`${escapeToLine(quotePath(settings))} may say where npm takes packages from.`);
  }
  return [...lines, "Its code runs with your rights to show what it brings.", "Load it?"].join("\n");
}

function undoHint(name: string, user: boolean): string {
  return `Undo: agent pack remove ${name}${user ? " --user" : ""}`;
}

/**
 * Installs a package with npm and returns its folder. With another package manager the person has to install it first.
 */
async function install(specifier: string, name: string, place: string, user: boolean): Promise<string> {
  const other = user ? undefined : findOtherManager(place);
  if (other === undefined) await installPackages(place, [specifier]);
  const folder = installedFolder(name, place);
  if (folder !== undefined) return folder;
  if (other === undefined) throw new CliError(`npm reported success, and ${name} is not in ${place}.`);
  const start = other.plugAndPlay ? "yarn agent" : "agent";
  throw new CliError(
    `${quotePath(other.file)} says that ${other.program} installs this project. Run: ${other.program} add ${specifier}, then again: ${start} pack add ${name}`,
  );
}

/** `agent pack remove NAME`: takes a pack out of the config and uninstalls it. */
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
  const other = user ? undefined : findOtherManager(place);
  if (isInstalled && other !== undefined) {
    print(`${escapeToLine(name)} is still installed. To uninstall it: ${other.program} remove ${name}\n`);
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
    `${quote(specifier)} is no package name. Write one such as agent-pack-weather or @me/pack@1.2.0.`,
  );
}
