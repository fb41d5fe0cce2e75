import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { escapeToLine, quote, quotePath, writeFileAtomic } from "@agent/core/toolkit";
import { installPackages, uninstallPackages } from "../../assembly/packages/npm.js";
import { entryOf } from "../../assembly/packs/entry.js";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { configDirectory, ensurePrivateDirectory, userPackagesDirectory } from "../../process/paths.js";
import { addPack, type ConfigKind, removePack } from "../../settings/config/editPacks.js";
import { PROJECT_PLACES, USER_PLACES } from "../../settings/config/places.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { ProjectFiles } from "../../settings/trust/projectFiles.js";
import { grantTrust, isTrusted } from "../../settings/trust/trust.js";

// A package's name, with a version or a tag if one is wanted. Nothing else is handed to npm.
const SPECIFIER = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[\w.^~*-]+)?$/i;

export interface PackManageParameters {
  readonly specifier: string;
  readonly directory: string;
  /** For every project of this person, instead of the one here. */
  readonly user: boolean;
  /** `--yes`: no question. */
  readonly yes: boolean;
  readonly print: (text: string) => void;
}

/** `agent pack add NAME`: installs a pack, shows what it brings, and selects it in the config after a yes. */
export async function packAdd(parameters: PackManageParameters): Promise<ExitCode> {
  const { specifier, directory, user, yes, print } = parameters;
  const name = packageName(specifier);
  if (!yes && !canAsk()) {
    throw new CliError(`There is no terminal to ask on. To add ${name} unattended: --yes`, EXIT.refused);
  }
  const place = user ? userPackagesDirectory() : directory;
  const file = configFile(directory, user) ?? join(user ? configDirectory() : directory, newName(user));
  const wasTrusted = isTrustedNow(file);
  await installPackages(place, [specifier]);
  const entry = entryOf(join(place, "node_modules", name));
  const { inspectPack } = await import("@agent/testing");
  const { tools, problem } = await inspectPack(entry);
  if (problem !== undefined) {
    throw new CliError(
      `${name} is installed, and is no pack that works: ${problem} Remove it: agent pack remove ${name}`,
    );
  }
  print(`${escapeToLine(name)} brings:\n`);
  for (const { name: tool, enabled, capabilities } of tools) {
    const traits = [
      enabled ? "on" : "off until enabled",
      capabilities.join(", ") || "says not what it can do",
    ];
    print(`  ${escapeToLine(tool)} (${escapeToLine(traits.join("; "))})\n`);
  }
  if (!yes && !(await askYesNo(`Select it in ${file}?`))) {
    print(`It is installed, and not selected. Undo: agent pack remove ${name}${user ? " --user" : ""}\n`);
    return EXIT.done;
  }
  await editConfig(file, (text, kind) => addPack(text, name, kind, [DEFAULT_PACK]), name, wasTrusted);
  print(`Selected in ${file}. See: agent tools\n`);
  return EXIT.done;
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
  const wasTrusted = file !== undefined && isTrustedNow(file);
  const isNamed = file !== undefined && isNamedIn(readFileSync(file, "utf8"), kindOf(file), name);
  const isInstalled = existsSync(join(place, "node_modules", name, "package.json"));
  if (!isNamed && !isInstalled) {
    throw new CliError(`${quote(name)} is neither installed ${user ? "for you" : "here"} nor in the config.`);
  }
  if (isInstalled) await uninstallPackages(place, [name]);
  if (file !== undefined && isNamed) {
    await editConfig(file, (text, kind) => removePack(text, name, kind), name, wasTrusted);
    print(`Taken out of ${file}.\n`);
  }
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

function configFile(directory: string, user: boolean): string | undefined {
  const base = user ? configDirectory() : directory;
  return (user ? USER_PLACES : PROJECT_PLACES)
    .map((name) => join(base, name))
    .find((path) => existsSync(path) && (kindOf(path) !== "package" || holdsConfig(path)));
}

function kindOf(file: string): ConfigKind {
  if (basename(file) === "package.json") return "package";
  const extension = extname(file);
  if (extension === ".json") return "json";
  return extension === ".yaml" ? "yaml" : "program";
}

/** Whether a package.json holds a config; one that cannot be read is npm's to complain about. */
function holdsConfig(file: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(readFileSync(file, "utf8")), "agent");
  } catch {
    return false;
  }
}

/** Whether taking the pack out would change the config. One that only a person can edit names it, too. */
function isNamedIn(text: string, kind: ConfigKind, name: string): boolean {
  const without = removePack(text, name, kind);
  if (without === undefined || kind === "program" || kind === "yaml") return without !== text;
  return JSON.stringify(JSON.parse(without)) !== JSON.stringify(JSON.parse(text));
}

function isTrustedNow(file: string): boolean {
  return !existsSync(file) || isTrusted(file, filesOf(file, readFileSync(file, "utf8")));
}

function newName(user: boolean): string {
  return user ? "config.json" : "agent.config.json";
}

/** Changes a config's text; one that was trusted, or is new, is trusted as it is then. */
async function editConfig(
  file: string,
  edit: (text: string, kind: ConfigKind) => string | undefined,
  name: string,
  wasTrusted: boolean,
): Promise<void> {
  const isNew = !existsSync(file);
  const before = isNew ? "{}\n" : readFileSync(file, "utf8");
  const after = edit(before, kindOf(file));
  if (after === undefined) {
    throw new CliError(
      `${quotePath(file)} cannot be edited for you: its list "packs" is not one that can be changed safely. Change it by hand: ${JSON.stringify(name)}`,
    );
  }
  if (after === before) return;
  if (isNew) ensurePrivateDirectory(dirname(file));
  await writeFileAtomic(file, after);
  if (wasTrusted) await grantTrust(file, filesOf(file, after).hashes);
}

function filesOf(file: string, text: string): ProjectFiles {
  const files = new ProjectFiles(file);
  // Of package.json only the key counts, as for the reader of configs.
  files.add(file, kindOf(file) === "package" ? JSON.stringify(JSON.parse(text).agent) : text);
  return files;
}
