import { existsSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { PackServices } from "@agent/core";
import { serviceNames } from "@agent/core/host";
import type { Isolation, IsolationLevel, PackManifest } from "@agent/core/isolation";
import { errorMessage, quote } from "@agent/core/toolkit";
import { canonicalPath, didYouMean, escapeToLine, KEY_VARIABLES, quotePath } from "@agent/internal";
import { ensurePrivateDirectory, sizeText } from "@agent/terminal/host";
import { latestCommit, parseGitSource } from "../../assembly/packages/gitArchive.js";
import { findManualInstall } from "../../assembly/packages/manualInstall.js";
import {
  type PackageFacts,
  packageFacts,
  uninstallPackages,
  withStagingDirectory,
} from "../../assembly/packages/npm.js";
import { pluginData, pluginSkills } from "../../assembly/packs/pluginPack.js";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { jitiFile } from "../../process/requireCjs.js";
import { accessRules } from "../../settings/access.js";
import { readConfigText } from "../../settings/config/configText.js";
import { configFile, editConfig, keepTrust, newConfigFile } from "../../settings/config/editConfig.js";
import { addPack, enableTools, removePack, removeTraces } from "../../settings/config/editPacks.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { entryOf } from "../../settings/packs/entry.js";
import {
  digestFiles,
  isTooLargeToLock,
  type LockedPack,
  packChanges,
  packLockFile,
  readPackLock,
  textChanges,
  toolState,
  writeLockedPack,
} from "../../settings/packs/lock.js";
import { isPluginFolder, readPlugin, readServers } from "../../settings/packs/plugin.js";
import { isOwnPack } from "../../settings/packs/resolve.js";
import { ProjectFiles } from "../../settings/trust/projectFiles.js";
import { isTrusted } from "../../settings/trust/trust.js";
import {
  archivesFolder,
  type Candidate,
  checkExists,
  configDirectory,
  isPath,
  manifestOf,
  packageName,
  removeArchives,
  SHORT_COMMIT,
  withCandidate,
} from "./candidate.js";
import { findInstalledPacks, installedFolder } from "./installed.js";

// The time limits for a pack to register, and for its late tools.
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
  /** The minimum isolation that is accepted without asking. */
  readonly isolation?: AcceptedIsolation | undefined;
}

/** `none`: the code of the pack runs with the rights of the user. */
export type AcceptedIsolation = IsolationLevel | "none";

/**
 * `agent pack add NAME`: downloads a pack into a private directory, shows what it provides, and after approval installs
 * it, selects it in the config and records the approval in the lock file. The project is not changed before.
 */
export async function packAdd(parameters: PackAddParameters): Promise<ExitCode> {
  const { specifier, directory, yes } = parameters;
  checkExists(specifier, directory);
  if (!yes && !canAsk()) {
    throw new CliError(`There is no terminal to ask on. To add ${specifier} unattended: --yes`, EXIT.refused);
  }
  if (isRegistryName(specifier)) warnOfLookalikes(packageName(specifier), parameters);
  return await withCandidate(parameters, (candidate) => examineAndSelect(parameters, candidate));
}

export interface PackUpdateParameters extends Omit<PackAddParameters, "enable" | "specifier"> {
  /** The packs to update; all in the lock file if it is empty. */
  readonly specifiers: readonly string[];
}

/**
 * `agent pack update [NAME…]`: downloads the newest version of packs, shows what changes for the user, and after
 * approval installs them and records the change. Also approves a change made by another program.
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
    const isLockedFolder = Object.hasOwn(lock, named) && isPath(named);
    const path = isLockedFolder ? resolve(configDirectory(directory, user), named) : named;
    const specifier = lock[named]?.git?.source ?? path;
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
    if (isPath(name) && git === undefined) continue;
    const folder = installedFolder(name, place);
    const installed = isPath(name)
      ? version
      : folder === undefined
        ? "missing"
        : String(manifestOf(folder).version);
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

/** Loads a pack after approval, shows what it provides, and after a second approval installs and selects it. */
async function examineAndSelect(parameters: PackAddParameters, candidate: Candidate): Promise<ExitCode> {
  const { specifier, directory, user, yes, print } = parameters;
  const { name, install } = candidate;
  // The name of a pack in an archive is known only after it was read.
  if (!isRegistryName(specifier) && !isPath(name)) warnOfLookalikes(name, parameters);
  const found = await examine(parameters, candidate);
  if (found === undefined) return EXIT.done;
  const { [name]: before } = readPackLock(lockFileOf(directory, user));
  if (before && before.files !== found.files) {
    const from = before.git ? ` from ${before.git.source}` : "";
    print(`It replaces ${escapeToLine(`${name} ${before.version}${from}`)}, which you added before.\n`);
  }
  print(`${escapeToLine(name)} adds:\n${await listOf(found, candidate)}`);
  await confirmSending(found, undefined, parameters, candidate);
  const enable = await toolsToEnable(parameters, found);
  const file = configFile(directory, user) ?? newConfigFile(directory, user);
  const how = candidate.installed === undefined ? "Install it with npm" : "Install it";
  const question = `${install ? `${how}, and select` : "Select"} it in ${escapeToLine(file)}?`;
  if (!yes && !(await askYesNo(question))) {
    print(`${unchanged(candidate)}\n`);
    return EXIT.done;
  }
  const place = user ? userPackagesDirectory() : directory;
  const change = async (): Promise<void> => {
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
  };
  const installed = candidate.installed ?? join(place, "node_modules", name);
  await keepTrust(file, change, install ? installed : candidate.folder);
  print(`Selected in ${file}. See: agent tools\n`);
  return await addServers(candidate, { ...parameters, place });
}

/** Adds the MCP servers that a pack declares in `mcp.json`, with the questions and the lock of `agent mcp add`. */
async function addServers(
  { name, folder, installed, install }: Candidate,
  { directory, place, user, yes, print }: PackAddParameters & { readonly place: string },
): Promise<ExitCode> {
  const home = installed ?? (install ? (installedFolder(name, place) ?? folder) : folder);
  const data = pluginData(home);
  const { servers } = readServers(home, data);
  if (Object.keys(servers).length === 0) return EXIT.done;
  ensurePrivateDirectory(data);
  try {
    const { addPackServers } = await import("../mcp/add.js");
    return await addPackServers(servers, { cwd: directory, user, yes });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const names = Object.keys(servers).join(", ");
    print(
      `${escapeToLine(name)} is added without its MCP servers (${escapeToLine(names)}): ${error.message} Then again: agent pack add ${name}\n`,
    );
    return EXIT.done;
  }
}

function installedCandidate({ name, installed }: Candidate, place: string): string | undefined {
  return installed && existsSync(installed) ? installed : installedFolder(name, place);
}

/** Shows the changes of another version, and after approval installs it. */
async function examineAndUpdate(
  { directory, user, yes, print, isolation }: PackUpdateParameters,
  candidate: Candidate,
  locked: LockedPack | undefined,
): Promise<ExitCode> {
  const { name, folder, install } = candidate;
  const place = user ? userPackagesDirectory() : directory;
  const installed = install ? installedCandidate(candidate, place) : folder;
  const isCurrent = installed !== undefined && digestFiles(installed) === digestFiles(folder);
  const file = configFile(directory, user) ?? newConfigFile(directory, user);
  // A pack that was added without isolation stays without it until the user asks for it. A lock that the user did not approve has no say.
  const approved = user || isLockTrusted(file) ? locked : undefined;
  const accepted = isolation ?? (approved && (approved.isolation?.required ?? "none"));
  if (
    locked !== undefined &&
    isCurrent &&
    locked.files === digestFiles(folder) &&
    (isolation === undefined || isolation === (locked.isolation?.required ?? "none"))
  ) {
    print(`${escapeToLine(name)} ${escapeToLine(locked.version)} is up to date.\n`);
    return EXIT.done;
  }
  const found = await examine({ yes, print, isolation: accepted }, candidate);
  if (found === undefined) return EXIT.done;
  if (locked === undefined) print(`${escapeToLine(name)} adds:\n${await listOf(found, candidate)}`);
  else {
    const { describeGrants, readManifest } = await import("@agent/core/isolation");
    const [before, after] = [locked, found].map(({ isolation: one }) => one && readManifest(one.manifest));
    const texts = before && after ? textChanges(before, after) : [];
    const changes = [...packChanges(locked, found, describeGrants), ...texts];
    print(escapeToLine(`${name}: version ${locked.version} → ${found.version}`));
    print(changes.length === 0 ? ", with the same tools and rights\n" : "\n");
    for (const change of changes) print(`  ${escapeToLine(change)}\n`);
  }
  await confirmSending(found, locked, { yes }, candidate);
  const question =
    install && !isCurrent ? "Install this version with npm, and approve it?" : "Approve this version?";
  if (!yes && !(await askYesNo(question))) {
    print(`${unchanged(candidate)} What you approved before stays as it is.\n`);
    return EXIT.done;
  }
  const change = async (): Promise<void> => {
    if (!isCurrent) await install?.();
    await writeLockedPack(packLockFile(file), name, found);
  };
  await keepTrust(file, change, installed ?? folder);
  print(`${escapeToLine(name)} ${escapeToLine(found.version)} is approved.\n`);
  return EXIT.done;
}

/** Whether the user approved the packs in the lock next to a config on this machine. */
function isLockTrusted(file: string): boolean {
  if (!existsSync(file)) return false;
  const limits = new ProjectFiles(file);
  limits.addLimits(packLockFile(join(realpathSync(dirname(file)), basename(file))));
  return isTrusted(file, limits);
}

const IN_PROCESS = "Only if you trust its code with all your rights: --isolation none";

/** Loads a pack in a separate process after approval, isolated if it can be. `undefined`: the user refused. */
async function examine(
  { yes, print, isolation: accepted }: Pick<PackAddParameters, "yes" | "print" | "isolation">,
  candidate: Candidate,
): Promise<LockedPack | undefined> {
  const { name, folder, install } = candidate;
  if (isPluginFolder(folder)) return examinePlugin(candidate, print);
  const version = String(manifestOf(folder).version ?? "without a version");
  const facts =
    install && !isPath(name) && candidate.git === undefined
      ? await packageFacts(`${name}@${version}`).catch(() => undefined)
      : undefined;
  const runsInProcess = accepted === "none" || isOwnName(name);
  if (!runsInProcess && process.versions.pnp !== undefined) {
    throw new CliError(
      `${name} cannot be isolated: no other process can read the archives of Yarn Plug'n'Play. ${unchanged(candidate)} ${IN_PROCESS}`,
      EXIT.refused,
    );
  }
  const isolation = runsInProcess ? undefined : await loadIsolation();
  const status = await isolation?.status();
  if (yes && status?.level === "limited" && accepted !== "limited") {
    throw new CliError(
      `Isolation is ${status.detail}, so --yes does not add ${name}. ${status.hint ?? ""} To add it all the same: --yes --isolation limited`,
      EXIT.refused,
    );
  }
  const lines = [
    `${escapeToLine(name)} ${escapeToLine(version)} ${candidate.where}.`,
    ...factLines(folder, facts),
    `  Isolation: ${escapeToLine(status?.detail ?? "none")}`,
    status === undefined
      ? "Its code runs with your rights to show what it adds."
      : "Its code runs in its own process to show what it adds.",
  ];
  if (yes) print(`${lines.slice(0, -1).join("\n")}\n`);
  else if (!(await askYesNo([...lines, "Load it?"].join("\n")))) {
    print(`${unchanged(candidate)} No code of ${escapeToLine(name)} ran.\n`);
    return undefined;
  }
  const files = digestFiles(folder);
  const origin = {
    ...(candidate.git && { git: candidate.git }),
    ...(facts?.publisher !== undefined && { publisher: facts.publisher }),
  };
  if (isolation === undefined || status === undefined) {
    return { version, ...origin, files, ...(await examineInProcess(candidate, print)) };
  }
  const examined = await examineIsolated(candidate, isolation, status.level, { yes, print });
  const found = { version, ...origin, files, ...examined };
  if (isTooLargeToLock(found)) {
    throw new CliError(
      `${name} describes more than fits into the lock file of packs. ${unchanged(candidate)}`,
    );
  }
  return found;
}

/** Whether a package is one of ours, which runs in the process of the agent. */
function isOwnName(name: string): boolean {
  return isOwnPack(name, { file: "", local: isPath(name), own: false });
}

async function loadIsolation(): Promise<Isolation> {
  const { Isolation } = await import("@agent/core/isolation");
  return new Isolation({ typeScriptLoader: jitiFile() });
}

type Examined = Omit<LockedPack, "version" | "files">;

/** Inspects what a pack registers without any access. */
async function examineIsolated(
  candidate: Candidate,
  isolation: Isolation,
  required: IsolationLevel,
  asking: Pick<PackAddParameters, "yes" | "print">,
): Promise<Examined> {
  const { name, folder } = candidate;
  const { print } = asking;
  const { grantsOf, linkedDirectories } = await import("@agent/core/isolation");
  let manifest: PackManifest;
  try {
    const entry = realpathSync(entryOf(folder));
    for (const path of linkedDirectories(entry, accessRules(process.cwd(), []).writable ?? []))
      print(`It also reads ${escapeToLine(quotePath(path))}, to which its folder links.\n`);
    manifest = await withLateTools(await isolation.inspect(entry), entry, isolation, asking);
  } catch (error) {
    throw new CliError(
      `${name} is not a pack that works in its own process: ${errorMessage(error).replace(/\.?$/, ".")} ${unchanged(candidate)} ${IN_PROCESS}`,
    );
  }
  if (manifest.packName !== undefined && isOwnName(manifest.packName)) {
    throw new CliError(
      `${name} calls itself ${quote(manifest.packName)}, whose state it would get. ${unchanged(candidate)} ${IN_PROCESS}`,
      EXIT.refused,
    );
  }
  for (const { description, problem } of manifest.late) {
    if (problem !== undefined)
      print(`Not all tools could be seen: ${escapeToLine(`${description}: ${problem}`)}\n`);
  }
  const { packName, tools, secrets, commands, mentions, skills, agents, hooks, prompts } = manifest;
  const services = {
    ...{ commands, mentions, skills, agents },
    ...(hooks.length > 0 && { hooks }),
    ...(prompts.length > 0 && { prompt: prompts }),
  };
  return {
    ...(packName !== undefined && { packName }),
    tools: Object.fromEntries(
      Object.entries(tools).map(([tool, { enabled, capabilities }]) => [tool, { enabled, capabilities }]),
    ),
    secrets,
    services: [...serviceNames(services as unknown as PackServices), ...serverNames(folder, print)],
    isolation: { required, grants: grantsOf(manifest), manifest },
  };
}

/**
 * Looks again at a pack whose late tools did not load where it may do nothing: with the hosts and secrets that it would get, if
 * the user agrees.
 */
async function withLateTools(
  found: PackManifest,
  entry: string,
  isolation: Isolation,
  { yes }: Pick<PackAddParameters, "yes" | "print">,
): Promise<PackManifest> {
  if (found.late.every(({ problem }) => problem === undefined)) return found;
  const { describeGrants, grantsOf } = await import("@agent/core/isolation");
  const grants = grantsOf(found);
  const secrets = Object.fromEntries(
    found.secrets.flatMap((secret) => {
      const value = yes && isProviderKey(secret) ? undefined : process.env[secret];
      return value ? [[secret, value]] : [];
    }),
  );
  const gets = [
    ...describeGrants(grants),
    ...Object.keys(secrets).map((secret) => `gets the secret ${secret}`),
  ];
  const question = [
    `It announces ${found.late.map(({ description }) => escapeToLine(description)).join(", ")}, which it loads only with what it needs:`,
    ...gets.map((line) => `  ${escapeToLine(line)}`),
    "Load them to see which tools it adds?",
  ];
  if (!yes && !(await askYesNo(question.join("\n")))) return found;
  return await isolation.inspect(entry, { grants, secrets });
}

/** Inspects what a pack registers with the rights of the user. */
async function examineInProcess(candidate: Candidate, print: (text: string) => void): Promise<Examined> {
  const { name, folder } = candidate;
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
    ...(packName !== undefined && { packName }),
    tools: Object.fromEntries(
      tools.map(({ name: tool, enabled, capabilities }) => [tool, { enabled, capabilities }]),
    ),
    secrets,
    services: [...services, ...serverNames(folder, print)],
  };
}

/** The content of a plugin. It is data: none of it runs. */
function examinePlugin(
  { name, folder, where, git }: Candidate,
  print: PackAddParameters["print"],
): LockedPack {
  const plugin = readPlugin(folder, pluginData(folder));
  const { skills, ignored } = pluginSkills(folder);
  print(`${escapeToLine(`${name} ${plugin.version}`)} ${where}. It is a plugin and has no code.\n`);
  for (const line of [...plugin.ignored, ...ignored]) print(`  Ignored: ${escapeToLine(line)}\n`);
  return {
    version: plugin.version,
    packName: plugin.name,
    ...(git && { git }),
    files: digestFiles(folder),
    tools: {},
    secrets: [],
    services: [
      ...skills.map((skill) => `skill ${skill.name}`),
      ...Object.keys(plugin.servers).map((server) => `MCP server ${server}`),
    ],
  };
}

/** The MCP servers that a package declares in `mcp.json`. */
function serverNames(folder: string, print: PackAddParameters["print"]): string[] {
  const { servers, problems } = readServers(folder, pluginData(folder));
  for (const problem of problems) print(`  Ignored: ${escapeToLine(problem)}\n`);
  return Object.keys(servers).map((server) => `MCP server ${server}`);
}

/** The data of the registry and package.json about a package, read before any of its code runs. */
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

/** The content of a pack, one line each. */
async function listOf(
  { tools, secrets, services, isolation }: LockedPack,
  { folder }: Candidate,
): Promise<string> {
  const granted = isolation && (await import("@agent/core/isolation")).describeGrants(isolation.grants);
  const lines = [
    ...Object.entries(tools).map(([tool, locked]) => `${tool} (${toolState(locked)})`),
    ...secrets.map((name) => `the secret ${name} (${process.env[name] ? "set" : "not set"})`),
    ...services,
    ...(granted ?? (isPluginFolder(folder) ? [] : ["runs with your rights, not isolated"])),
  ];
  return lines.map((line) => `  ${escapeToLine(line)}\n`).join("");
}

/**
 * A pack that sees what does not concern it, or gets the key of a model provider, and may connect is approved by a separate
 * question, never by `--yes`.
 */
async function confirmSending(
  { isolation, secrets }: LockedPack,
  before: LockedPack | undefined,
  { yes }: Pick<PackAddParameters, "yes">,
  candidate: Candidate,
): Promise<void> {
  if (isolation === undefined) return;
  const { maySendOthers } = await import("@agent/core/isolation");
  const { hosts = [] } = isolation.grants;
  const accepted = before?.isolation?.grants;
  const keys = secrets.filter(isProviderKey);
  const isNew =
    keys.some((key) => !before?.secrets.includes(key)) ||
    hosts.some((host) => !accepted?.hosts?.includes(host));
  const gets = [
    ...(maySendOthers(isolation.grants, accepted) ? ["sees calls and messages that are not its own"] : []),
    ...(hosts.length > 0 && keys.length > 0 && isNew
      ? [`gets ${keys.join(", ")}, with which anyone can use your model provider`]
      : []),
  ];
  if (gets.length === 0) return;
  const name = escapeToLine(candidate.name);
  const warning = `${name} ${gets.join(", and ")}, and may connect: it could send them to ${escapeToLine(hosts.join(", "))}.`;
  if (yes) {
    throw new CliError(
      `${warning} ${unchanged(candidate)} To approve that, answer its question: run the command without --yes.`,
      EXIT.refused,
    );
  }
  if (!(await askYesNo(`${warning}\nAccept that?`))) throw new CliError(unchanged(candidate), EXIT.refused);
}

function isProviderKey(variable: string): boolean {
  return KEY_VARIABLES.includes(variable);
}

/** The disabled tools that the user wants to enable. */
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

function isRegistryName(specifier: string): boolean {
  return !isPath(specifier) && parseGitSource(specifier) === undefined;
}

/** Warns about a name that differs by one character, or only in case and separators, from an installed pack. */
function warnOfLookalikes(name: string, { directory, print }: PackAddParameters): void {
  const names = new Set([DEFAULT_PACK, ...findInstalledPacks(directory).map((pack) => pack.name)]);
  if (names.has(name)) return;
  const fold = (text: string): string => text.toLowerCase().replace(/[._-]/g, "");
  for (const other of names) {
    const isClose = isOneEditApart(name, other);
    if (!isClose && fold(name) !== fold(other)) continue;
    const how = isClose ? "by one character" : "only in case and separators";
    print(`Warning: ${escapeToLine(name)} differs ${how} from ${other}, which you have. Check the name.\n`);
    return;
  }
}

/** Whether two texts differ by one inserted, removed or replaced character, or by two exchanged ones. */
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

/** `agent pack remove NAME`: removes a pack from the config and uninstalls it. */
export async function packRemove({
  specifier,
  directory,
  user,
  print,
}: PackManageParameters): Promise<ExitCode> {
  const place = user ? userPackagesDirectory() : directory;
  const file = configFile(directory, user);
  const lockFile = lockFileOf(directory, user);
  const lock = readPackLock(lockFile);
  const asked = isPath(specifier) ? specifier : packageName(specifier);
  // A folder is in the config by its path; users also know it by the name of the pack.
  const name = lock[asked]
    ? asked
    : (Object.keys(lock).find((key) => lock[key]?.packName === asked) ?? asked);
  const isNamed = file !== undefined && readConfigText(file).text.includes(name);
  const { git, services = [], tools: lockedTools = {} } = lock[name] ?? {};
  const isInstalled = !isPath(name) && installedFolder(name, place) !== undefined;
  const known = [
    ...Object.entries(lock).flatMap(([key, { packName = key }]) => [key, packName]),
    ...findInstalledPacks(place).flatMap((pack) => (pack.besideCli ? [] : [pack.name])),
  ];
  const hint = didYouMean(name, known, { otherwise: "See: agent pack list" });
  const missing = `${quote(name)} is neither installed ${user ? "for you" : "here"} nor in the config. ${hint}`;
  if (!isNamed && !isInstalled) throw new CliError(missing);
  if (file !== undefined && isNamed) {
    const before = readConfigText(file).text;
    const tools = Object.keys(lockedTools);
    await editConfig(
      file,
      (text, kind) => {
        const without = removePack(text, name, kind);
        return without === undefined ? undefined : removeTraces(without, name, tools, kind);
      },
      JSON.stringify(name),
    );
    if (readConfigText(file).text !== before) print(`Removed from ${file}.\n`);
    else if (!isInstalled) throw new CliError(missing);
  }
  await keepTrust(file ?? newConfigFile(directory, user), () => writeLockedPack(lockFile, name, undefined));
  const manual = user ? undefined : findManualInstall(place);
  if (isInstalled && manual !== undefined) {
    print(
      `${escapeToLine(name)} is still installed. ${manual.reason} To uninstall it: ${manual.uninstall} ${name}\n`,
    );
    return EXIT.done;
  }
  if (isInstalled) await uninstallPackages(place, [name]);
  removeArchives(place, name);
  const folder = resolve(dirname(lockFile), name);
  // Only what the command made there: a lock and links of the project may name another directory.
  if (git && isPath(name) && canonicalPath(dirname(folder)) === canonicalPath(archivesFolder(place)))
    rmSync(folder, { recursive: true, force: true });
  const servers = services.flatMap((one) => /^MCP server (.+)$/.exec(one)?.slice(1) ?? []);
  for (const server of servers) {
    print(
      `Its MCP server ${escapeToLine(server)} stays. To remove it: agent mcp remove ${escapeToLine(server)}\n`,
    );
  }
  print(`${escapeToLine(name)} is removed.\n`);
  return EXIT.done;
}
