import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine, quotePath, readRegularFile } from "@agent/internal";
import { sizeText } from "@agent/terminal/host";
import {
  archiveGit,
  type GitSource,
  latestCommit,
  parseGitSource,
} from "../../assembly/packages/gitArchive.js";
import { findManualInstall } from "../../assembly/packages/manualInstall.js";
import {
  installPackages,
  type PackageFacts,
  packageFacts,
  stagePackage,
  uninstallPackages,
  withStagingDirectory,
} from "../../assembly/packages/npm.js";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { readConfigText } from "../../settings/config/configText.js";
import { configFile, editConfig, newConfigFile } from "../../settings/config/editConfig.js";
import { addPack, enableTools, removePack, removeTraces } from "../../settings/config/editPacks.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { entryOf } from "../../settings/packs/entry.js";
import {
  digestFiles,
  type LockedPack,
  packageFiles,
  packChanges,
  packLockFile,
  readPackLock,
  writeLockedPack,
} from "../../settings/packs/lock.js";
import { findInstalledPacks, installedFolder, reachableFolder } from "./installed.js";

// A package's name, optionally with a version or a tag. Nothing else is passed to npm.
const SPECIFIER = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[\w.^~*-]+)?$/i;

// The archives of packs from git, next to the package.json that names them.
const ARCHIVES = join(".agent", "packs");
const SHORT_COMMIT = 7;
// How long a pack may take to register, and how long its late tools may take.
const EXAMINATION_LIMIT_MS = 30_000;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

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
  /** Tools to enable without asking about each. */
  readonly enable: readonly string[];
}

/** A pack that is not selected yet: where it is, and how it gets into the project. */
interface Candidate {
  /** As the config names it. */
  readonly name: string;
  readonly folder: string;
  /** How it got here: `was downloaded`, `is installed in …`. */
  readonly where: string;
  /** Where it comes from, if it is in git. */
  readonly git?: { readonly source: string; readonly commit: string };
  readonly install?: () => Promise<void>;
}

/**
 * `agent pack add NAME`: downloads a pack into a private directory, shows what it brings, and after approval installs it,
 * selects it in the config and records in the lock file what was approved. The project is not touched before.
 */
export async function packAdd(parameters: PackAddParameters): Promise<ExitCode> {
  const { specifier, yes } = parameters;
  if (!yes && !canAsk()) {
    throw new CliError(`There is no terminal to ask on. To add ${specifier} unattended: --yes`, EXIT.refused);
  }
  if (!isPath(specifier) && parseGitSource(specifier) === undefined) {
    warnOfLookalikes(packageName(specifier), parameters);
  }
  return await withCandidate(parameters, (candidate) => examineAndSelect(parameters, candidate));
}

export interface PackUpdateParameters extends Omit<PackAddParameters, "enable" | "specifier"> {
  /** The packs to update; all that the lock file names if it is empty. */
  readonly specifiers: readonly string[];
}

/**
 * `agent pack update [NAME…]`: downloads the newest version of packs, shows what changes for the user, and after approval
 * installs them and records the change. Also approves a change that came with another program.
 */
export async function packUpdate(parameters: PackUpdateParameters): Promise<ExitCode> {
  const { directory, user, yes, print } = parameters;
  const lock = readPackLock(lockFileOf(directory, user));
  const specifiers = parameters.specifiers.length > 0 ? parameters.specifiers : Object.keys(lock);
  if (specifiers.length === 0) print("No pack was added here with agent pack add.\n");
  if (!yes && specifiers.length > 0 && !canAsk()) {
    throw new CliError("There is no terminal to ask on. To update unattended: --yes", EXIT.refused);
  }
  for (const named of specifiers) {
    const specifier = lock[named]?.git?.source ?? named;
    await withCandidate({ ...parameters, specifier }, (candidate) =>
      examineAndUpdate(parameters, candidate, lock[candidate.name]),
    );
  }
  return EXIT.done;
}

/** `agent pack outdated`: compares the packs of the lock file with the newest versions in the registry. */
export async function packOutdated({
  directory,
  user,
  print,
  json,
}: Omit<PackManageParameters, "specifier"> & { readonly json: boolean }): Promise<ExitCode> {
  const lock = readPackLock(lockFileOf(directory, user));
  const place = user ? userPackagesDirectory() : directory;
  const rows: { name: string; approved: string; installed: string; latest: string }[] = [];
  for (const [name, { version, git }] of Object.entries(lock)) {
    if (isPath(name)) continue;
    const folder = installedFolder(name, place);
    const installed = folder === undefined ? "missing" : String(manifestOf(folder).version);
    const source = git && parseGitSource(git.source);
    if (git && source) {
      const commit = await withStagingDirectory((staging) => latestCommit(source, staging));
      if (commit === git.commit && installed !== "missing") continue;
      const [approved, latest] = [git.commit, commit].map((one) => one.slice(0, SHORT_COMMIT));
      rows.push({ name, approved: `${version} (${approved})`, installed, latest: String(latest) });
      continue;
    }
    const { version: latest = "unknown" } = await packageFacts(name);
    if (installed !== latest || installed !== version)
      rows.push({ name, approved: version, installed, latest });
  }
  if (json) {
    print(`${JSON.stringify({ v: 1, packs: rows }, undefined, 2)}\n`);
    return EXIT.done;
  }
  if (rows.length === 0) print("All packs that were added here are up to date.\n");
  for (const { name, approved, installed, latest } of rows) {
    print(`${escapeToLine(`${name}  approved ${approved}  installed ${installed}  latest ${latest}`)}\n`);
  }
  if (rows.length > 0) print("To update: agent pack update NAME\n");
  return EXIT.done;
}

/** Makes the pack available without changing the project, and removes it again after `use`. */
async function withCandidate(
  { specifier, directory, user }: PackManageParameters,
  use: (candidate: Candidate) => Promise<ExitCode>,
): Promise<ExitCode> {
  const place = user ? userPackagesDirectory() : directory;
  const path = resolve(directory, specifier);
  if (isPath(specifier) && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    if (!existsSync(join(path, "package.json"))) {
      throw new CliError(
        `${quotePath(path)} has no package.json, so it is not a pack. Create one: agent pack new NAME`,
      );
    }
    const config = configFile(directory, user) ?? newConfigFile(directory, user);
    const local = relative(dirname(config), path).split(sep).join("/");
    const name = local.startsWith(".") ? local : `./${local}`;
    return await use({ name, folder: path, where: `is the folder ${escapeToLine(quotePath(path))}` });
  }
  if (isPath(specifier) && !existsSync(path)) {
    throw new CliError(
      `${quotePath(path)} does not exist. Pass a package name, a folder, a .tgz file or the address of a git repository.`,
    );
  }
  const git = parseGitSource(specifier);
  const named = git !== undefined || isPath(specifier) ? undefined : packageName(specifier);
  const manual = user ? undefined : findManualInstall(directory);
  if (manual === undefined) {
    return await withStagingDirectory(async (staging) => {
      if (git !== undefined) return await use(await gitCandidate({ git, specifier, staging, place, user }));
      const tarball = named === undefined ? path : undefined;
      const { name, folder } = await stagePackage(tarball ?? specifier, join(staging, "package"));
      const install = () => installChecked({ name, folder, place, user, tarball });
      return await use({ name, folder, where: "was downloaded", install });
    });
  }
  const folder = named === undefined ? undefined : reachableFolder(named, directory);
  if (named !== undefined && folder !== undefined) {
    return await use({ name: named, folder, where: `is installed in ${escapeToLine(quotePath(folder))}` });
  }
  const start = manual.plugAndPlay ? "yarn agent" : "agent";
  throw new CliError(
    `${manual.reason} Run: ${manual.install} ${specifier}, then again: ${start} pack add ${named ?? "NAME, with the name of the package"}`,
  );
}

/**
 * A pack of a git repository. npm gets an archive of one commit, which is kept in the project: what was examined is what
 * everyone installs, and neither npm nor the repository runs anything.
 */
async function gitCandidate({
  git,
  specifier,
  staging,
  place,
  user,
}: {
  readonly git: GitSource;
  readonly specifier: string;
  readonly staging: string;
  readonly place: string;
  readonly user: boolean;
}): Promise<Candidate> {
  const { file, commit } = await archiveGit(git, join(staging, "git"));
  const { name, folder } = await stagePackage(file, join(staging, "package"));
  const short = commit.slice(0, SHORT_COMMIT);
  return {
    name,
    folder,
    where: `was downloaded from ${escapeToLine(git.url)}, commit ${short}`,
    git: { source: specifier, commit },
    install: async () => {
      const tarball = join(place, ARCHIVES, `${name.replaceAll("/", "-")}-${short}.tgz`);
      mkdirSync(dirname(tarball), { recursive: true });
      copyFileSync(file, tarball);
      await installChecked({ name, folder, place, user, tarball });
      removeArchives(place, name, tarball);
    },
  };
}

/** Removes the archives of a pack from git, except for one. */
function removeArchives(place: string, name: string, kept?: string): void {
  const folder = join(place, ARCHIVES);
  if (!existsSync(folder)) return;
  const start = `${name.replaceAll("/", "-")}-`;
  for (const file of readdirSync(folder)) {
    const rest = file.startsWith(start) ? file.slice(start.length) : "";
    if (/^[0-9a-f]{7}\.tgz$/.test(rest) && join(folder, file) !== kept) rmSync(join(folder, file));
  }
}

/** Loads a pack after approval, shows what it brings, and after a second approval installs and selects it. */
async function examineAndSelect(parameters: PackAddParameters, candidate: Candidate): Promise<ExitCode> {
  const { directory, user, yes, print } = parameters;
  const { name, install } = candidate;
  const found = await examine(parameters, candidate);
  if (found === undefined) return EXIT.done;
  print(`${escapeToLine(name)} brings:\n${listOf(found)}`);
  const enable = await toolsToEnable(parameters, found);
  const file = configFile(directory, user) ?? newConfigFile(directory, user);
  const question = `${install ? "Install it with npm, and select" : "Select"} it in ${escapeToLine(file)}?`;
  if (!yes && !(await askYesNo(question))) {
    print(`${unchanged(candidate)}\n`);
    return EXIT.done;
  }
  await install?.();
  await editConfig(
    file,
    (text, kind) => {
      const selected = addPack(text, name, kind, [DEFAULT_PACK]);
      return selected === undefined || enable.length === 0 ? selected : enableTools(selected, enable, kind);
    },
    JSON.stringify(name),
  );
  await writeLockedPack(packLockFile(file), name, found);
  print(`Selected in ${file}. See: agent tools\n`);
  return EXIT.done;
}

/** Shows what another version changes, and after approval installs it. */
async function examineAndUpdate(
  { directory, user, yes, print }: PackUpdateParameters,
  candidate: Candidate,
  locked: LockedPack | undefined,
): Promise<ExitCode> {
  const { name, folder, install } = candidate;
  const place = user ? userPackagesDirectory() : directory;
  const installed = installedFolder(name, place);
  const isCurrent = installed !== undefined && digestFiles(installed) === digestFiles(folder);
  if (locked !== undefined && isCurrent && locked.files === digestFiles(folder)) {
    print(`${escapeToLine(name)} ${escapeToLine(locked.version)} is up to date.\n`);
    return EXIT.done;
  }
  const found = await examine({ yes, print }, candidate);
  if (found === undefined) return EXIT.done;
  if (locked === undefined) print(`${escapeToLine(name)} brings:\n${listOf(found)}`);
  else {
    const changes = packChanges(locked, found);
    print(escapeToLine(`${name}: version ${locked.version} → ${found.version}`));
    print(changes.length === 0 ? ", with the same tools and rights\n" : "\n");
    for (const change of changes) print(`  ${escapeToLine(change)}\n`);
  }
  const question =
    install && !isCurrent ? "Install this version with npm, and approve it?" : "Approve this version?";
  if (!yes && !(await askYesNo(question))) {
    print(`${unchanged(candidate)} What you approved before stays as it is.\n`);
    return EXIT.done;
  }
  if (!isCurrent) await install?.();
  await writeLockedPack(lockFileOf(directory, user), name, found);
  print(`${escapeToLine(name)} ${escapeToLine(found.version)} is approved.\n`);
  return EXIT.done;
}

/** Loads a pack in a separate process after approval. `undefined`: the user refused. */
async function examine(
  { yes, print }: Pick<PackAddParameters, "yes" | "print">,
  candidate: Candidate,
): Promise<LockedPack | undefined> {
  const { name, folder, install } = candidate;
  const version = String(manifestOf(folder).version ?? "without a version");
  const facts =
    install && !isPath(name) && candidate.git === undefined
      ? await packageFacts(`${name}@${version}`).catch(() => undefined)
      : undefined;
  const lines = [
    `${name} ${escapeToLine(version)} ${candidate.where}.`,
    ...factLines(folder, facts),
    "Its code runs with your rights to show what it brings.",
  ];
  if (yes) print(`${lines.slice(0, -1).join("\n")}\n`);
  else if (!(await askYesNo([...lines, "Load it?"].join("\n")))) {
    print(`${unchanged(candidate)} No code of ${escapeToLine(name)} ran.\n`);
    return undefined;
  }
  const { inspectPack } = await import("@agent/testing");
  const { packName, tools, secrets, services, lateProblems, problem } = await inspectPack(entryOf(folder), {
    late: true,
    timeoutMs: EXAMINATION_LIMIT_MS,
  });
  if (problem !== undefined) {
    throw new CliError(`${name} is not a pack that works: ${problem} ${unchanged(candidate)}`);
  }
  for (const late of lateProblems) print(`Not all tools could be seen: ${escapeToLine(late)}\n`);
  return {
    version,
    ...(packName !== undefined && { packName }),
    ...(candidate.git && { git: candidate.git }),
    files: digestFiles(folder),
    tools: Object.fromEntries(
      tools.map(({ name: tool, enabled, capabilities }) => [tool, { enabled, capabilities }]),
    ),
    secrets,
    services,
  };
}

/** What the registry and package.json say about a package before any of its code runs. */
function factLines(folder: string, facts: PackageFacts | undefined): string[] {
  const { dependencies, scripts } = manifestOf(folder);
  const hooks = INSTALL_SCRIPTS.filter((name) => Object.hasOwn(Object(scripts), name));
  const { publisher, published, bytes, deprecated, hasProvenance } = facts ?? {};
  const lines = [
    publisher && `Published by ${publisher}${published ? ` on ${published}` : ""}`,
    bytes !== undefined && `Size: ${sizeText(bytes)}`,
    `Dependencies: ${Object.keys(Object(dependencies)).join(", ") || "none"}`,
    facts && `Provenance: ${hasProvenance ? "npm has a signed statement of its build" : "none"}`,
    hooks.length > 0 && `Install scripts: ${hooks.join(", ")}; they do not run`,
    deprecated && `Deprecated: ${deprecated}`,
  ];
  return lines
    .filter((line) => typeof line === "string" && line !== "")
    .map((line) => `  ${escapeToLine(String(line))}`);
}

/** What a pack brings, one line each. */
function listOf({ tools, secrets, services }: LockedPack): string {
  const lines = [
    ...Object.entries(tools).map(([tool, { enabled, capabilities }]) => {
      const can = capabilities.join(", ") || "declares no capability";
      return `${tool} (${enabled ? "on" : "off until enabled"}; ${can})`;
    }),
    ...secrets.map((name) => `the secret ${name} (${process.env[name] ? "set" : "not set"})`),
    ...services,
  ];
  return lines.map((line) => `  ${escapeToLine(line)}\n`).join("");
}

/** The tools that are off and that the user wants on. */
async function toolsToEnable({ yes, enable }: PackAddParameters, { tools }: LockedPack): Promise<string[]> {
  const off = Object.keys(tools).filter((tool) => tools[tool]?.enabled === false);
  const unknown = enable.find((name) => name !== "*" && tools[name] === undefined);
  if (unknown !== undefined) {
    throw new CliError(
      `There is no tool ${quote(unknown)} in this pack. ${didYouMean(unknown, Object.keys(tools))}`,
    );
  }
  const chosen: string[] = [];
  for (const tool of off) {
    const isNamed = enable.includes("*") || enable.includes(tool);
    if (isNamed || (!yes && (await askYesNo(`Enable ${escapeToLine(tool)}?`)))) chosen.push(tool);
  }
  return chosen;
}

/** Warns of a name that differs by one character from a pack that is installed. */
function warnOfLookalikes(name: string, { directory, print }: PackAddParameters): void {
  const names = new Set([DEFAULT_PACK, ...findInstalledPacks(directory).map((pack) => pack.name)]);
  if (names.has(name)) return;
  const similar = [...names].find((other) => isOneEditApart(name, other));
  if (similar === undefined) return;
  print(
    `Warning: ${escapeToLine(name)} differs by one character from ${similar}, which you have. Check the name.\n`,
  );
}

/** Whether one inserted, removed, replaced or two exchanged characters make one text of the other. */
function isOneEditApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  const [left, right] = [short.slice(at), long.slice(at)];
  return (
    left === right.slice(1) ||
    left.slice(1) === right.slice(1) ||
    (left.slice(2) === right.slice(2) && left[0] === right[1] && left[1] === right[0])
  );
}

function unchanged({ install }: Candidate): string {
  return install ? "Nothing was installed." : "Nothing was selected.";
}

/** The lock file of the config of a directory, or of the user's own. */
function lockFileOf(directory: string, user: boolean): string {
  return packLockFile(configFile(directory, user) ?? newConfigFile(directory, user));
}

function isPath(specifier: string): boolean {
  return /^(?:\.{0,2}\/|\.\.?$|file:)/.test(specifier) || specifier.endsWith(".tgz");
}

function manifestOf(folder: string): {
  readonly version?: unknown;
  readonly dependencies?: unknown;
  readonly scripts?: unknown;
} {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Installs the version that was examined. Throws if other files arrived: a lock file of the project, or a package that
 * it brought along, can put other code in the place of this version.
 */
async function installChecked({
  name,
  folder: examined,
  place,
  user,
  tarball,
}: {
  readonly name: string;
  readonly folder: string;
  readonly place: string;
  readonly user: boolean;
  readonly tarball: string | undefined;
}): Promise<void> {
  const specifier = tarball ?? `${name}@${manifestOf(examined).version}`;
  if (tarball === undefined) packageName(specifier);
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
  const files = new Set([...packageFiles(one), ...packageFiles(other)]);
  return [...files].find((file) => {
    const [bytes, others] = [one, other].map((folder) =>
      readRegularFile(join(folder, file), Number.POSITIVE_INFINITY),
    );
    return bytes === undefined || others === undefined || !bytes.equals(others);
  });
}

/** `agent pack remove NAME`: removes a pack from the config and uninstalls it. */
export async function packRemove({
  specifier,
  directory,
  user,
  print,
}: PackManageParameters): Promise<ExitCode> {
  const name = isPath(specifier) ? specifier : packageName(specifier);
  const place = user ? userPackagesDirectory() : directory;
  const file = configFile(directory, user);
  const lockFile = lockFileOf(directory, user);
  const isNamed = file !== undefined && readConfigText(file).text.includes(name);
  const isInstalled = installedFolder(name, place) !== undefined;
  if (!isNamed && !isInstalled) {
    throw new CliError(`${quote(name)} is neither installed ${user ? "for you" : "here"} nor in the config.`);
  }
  if (file !== undefined && isNamed) {
    const tools = Object.keys(readPackLock(lockFile)[name]?.tools ?? {});
    await editConfig(
      file,
      (text, kind) => {
        const without = removePack(text, name, kind);
        return without === undefined ? undefined : removeTraces(without, name, tools, kind);
      },
      JSON.stringify(name),
    );
    print(`Removed from ${file}.\n`);
  }
  await writeLockedPack(lockFile, name, undefined);
  const manual = user ? undefined : findManualInstall(place);
  if (isInstalled && manual !== undefined) {
    print(
      `${escapeToLine(name)} is still installed. ${manual.reason} To uninstall it: ${manual.uninstall} ${name}\n`,
    );
    return EXIT.done;
  }
  if (isInstalled) await uninstallPackages(place, [name]);
  removeArchives(place, name);
  print(`${escapeToLine(name)} is removed.\n`);
  return EXIT.done;
}

function packageName(specifier: string): string {
  const name = SPECIFIER.exec(specifier)?.[1];
  if (name !== undefined) return name;
  throw new CliError(
    `${quote(specifier)} is not a package name. Write one such as agent-pack-weather or @me/pack@1.2.0, the path of a folder or a .tgz file, or an address such as git+https://example.com/me/pack.git#v1.`,
  );
}
