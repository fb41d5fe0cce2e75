import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  isAgentError,
  type PackHost,
  type PackRegistry,
  registerPack,
  type ToolPack,
  type ToolRegistry,
} from "@agent/core";
import type { Isolation } from "@agent/core/isolation";
import { errorMessage, escapeInvisible, isRecord, lazyConstant, quote } from "@agent/core/toolkit";
import { isInside, quotePath } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { configDirectory } from "../../process/paths.js";
import { jitiFile } from "../../process/requireCjs.js";
import { locate, valuePattern } from "../../settings/config/locate.js";
import { DEFAULT_PACK, type SelectedPack } from "../../settings/layers.js";
import { isInstalled } from "../../settings/modules/resolveModule.js";
import { loadProblem, withinTime } from "../../settings/modules/runModule.js";
import { digestFiles, type LockedPack, packLockFile, readPackLock } from "../../settings/packs/lock.js";
import { PLUGIN_FILE } from "../../settings/packs/plugin.js";
import {
  isLocal,
  isOwnPack,
  type ResolvedPack,
  resolvePack,
  unbuiltEntry,
} from "../../settings/packs/resolve.js";
import { findManualInstall, installCommand } from "../packages/manualInstall.js";
import { lockedPack } from "./lockedPack.js";
import { pluginPack } from "./pluginPack.js";
import { trustedDirectories } from "./trustedDirectories.js";

/** A loaded pack, or the reason it could not be loaded. */
export interface LoadedPack {
  readonly name: string;
  readonly file: string | undefined;
  readonly options: unknown;
  /** Whether it is one of `@agent`, determined by where it was found. */
  readonly own: boolean;
  /** The directory of the config that names it. */
  readonly directory?: string | undefined;
  readonly module: (ToolPack & { readonly withheld?: ReadonlySet<string> }) | undefined;
  /** Whether it runs in its own process. */
  readonly isolated?: true;
  /** Limits a module to what the user approved. Absent for a pack that is not in the lock. */
  readonly guard?: ((module: ToolPack) => NonNullable<LoadedPack["module"]>) | undefined;
  /** The problem and how to fix it. Other packs are not affected. */
  problem: string | undefined;
}

/**
 * Loads the selected packs in parallel. Throws for a pack that is not installed. A pack that is installed but fails to
 * load is reported in its `problem`; the others work.
 */
export async function loadPacks(
  packs: readonly SelectedPack[],
  projectFile: string | undefined,
): Promise<LoadedPack[]> {
  const loading = new Set<string>();
  const loaded: LoadedPack[] = [];
  const isolation = lazyConstant(async () => {
    const loaded = await import("@agent/core/isolation");
    return { ...loaded, isolation: new loaded.Isolation({ typeScriptLoader: jitiFile() }) };
  });
  const all = namedIfItEnds(loading, () =>
    Promise.all(packs.map((pack) => loadPack(pack, projectFile, loading, isolation))),
  );
  for (const next of await all) {
    checkOnce(next, loaded);
    loaded.push(next);
  }
  return loaded;
}

function checkOnce({ name, file }: LoadedPack, earlier: readonly LoadedPack[]): void {
  const same = earlier.find((pack) => file !== undefined && pack.file === file);
  if (!same) return;
  const names = same.name === name ? quote(name) : `${quote(same.name)} and ${quote(name)}`;
  throw new CliError(`packs: ${names} selects the same pack twice (${file}). Leave one of them out.`);
}

/** Registers the loaded packs independently. Throws only if two packs register the same tool name. */
export function registerPacks(
  registry: ToolRegistry,
  packs: readonly LoadedPack[],
  host: Omit<PackHost, "options">,
): void {
  for (const pack of packs) {
    if (!pack.module) continue;
    const other = pack.isolated && packs.find((one) => one !== pack && labelOf(one) === labelOf(pack));
    if (other) {
      pack.problem = `The pack ${quote(pack.name)} is not used: it calls itself ${quote(labelOf(pack))}, as the pack ${quote(other.name)} does, whose state it would get. Take one of them out of "packs".`;
      continue;
    }
    const module = pack.module.packName ? pack.module : { ...pack.module, packName: pack.name };
    try {
      const { options, directory } = pack;
      const place = directory === undefined ? {} : { baseDirectory: directory };
      registerPack(registry, pack.own ? module : foreignPack(module), { ...host, options, ...place });
      pack.problem ??= withheldTools(pack);
    } catch (error) {
      if (isCollision(error)) throw new CliError(`${errorMessage(error)} Select only one of the two packs.`);
      pack.problem = `${errorMessage(error)} Fix or update the pack, or take it out of "packs".`;
    }
  }
}

/** The name by which a pack keeps its state. */
function labelOf({ name, module }: LoadedPack): string {
  return module?.packName || name;
}

/** A pack whose tools are marked as third-party, including later ones, whatever name the pack declares. */
function foreignPack(pack: ToolPack): ToolPack {
  // Left unchanged: `registerPack` reports the problem.
  if (typeof pack.register !== "function") return pack;
  const mark = (registry: PackRegistry): PackRegistry => ({
    ...registry,
    register: (tool, options) => registry.register(tool, { ...options, foreign: true }),
    registerLater: (description, load) =>
      registry.registerLater?.(description, (outer, signal) => load(mark(outer), signal)),
    onRefresh: (refresh) => registry.onRefresh?.((outer) => refresh(mark(outer))),
  });
  return { ...pack, register: (registry, host) => pack.register(mark(registry), host) };
}

/** Reports tools that are off because the pack changed since the user approved it. */
function withheldTools({ name, module }: LoadedPack): string | undefined {
  const tools = [...(module?.withheld ?? [])];
  if (tools.length === 0) return undefined;
  return `The pack ${quote(name)} changed since you approved it, so ${tools.join(", ")} ${tools.length === 1 ? "is" : "are"} off. Review the change with: agent pack update ${name}`;
}

async function loadPack(
  pack: SelectedPack,
  projectFile: string | undefined,
  loading: Set<string>,
  isolation: LoadIsolation,
): Promise<LoadedPack> {
  const { name, options, module } = pack;
  if (module) {
    const own = await isOwnModule(module);
    return { name, file: undefined, options, own, module, problem: undefined };
  }
  const directories = trustedDirectories(pack.source?.file, projectFile);
  const found = resolvePack(name, directories);
  if (!found) {
    const unbuilt = unbuiltEntry(name, directories);
    if (unbuilt !== undefined) throw new CliError(notBuilt(name, unbuilt));
    if (pack.origin !== "default") throw new CliError(missing(pack));
    return { name, file: undefined, options, own: false, module: undefined, problem: withoutPreset() };
  }
  const own = isOwnPack(name, found);
  const locked = lockEntry(pack, found);
  const isPlugin = found.local && basename(found.file) === PLUGIN_FILE;
  const isolated = locked?.isolation && { isolated: true as const };
  const guard = locked && ((module: ToolPack) => lockedPack(module, name, locked));
  try {
    const directory = pack.source && dirname(pack.source.file);
    if (locked && isolated) {
      const module = await isolatedModule(name, found.file, locked, isolation);
      return { name, file: found.file, options, own, directory, ...isolated, ...module };
    }
    loading.add(name);
    if (isPlugin && locked && locked.files !== digestFiles(dirname(found.file))) {
      const problem = `The plugin ${quote(name)} is not used, because its files changed since you approved it. Review the change with: agent pack update ${name}`;
      return { name, file: found.file, options, own, module: undefined, problem };
    }
    const loaded = isPlugin
      ? pluginPack(dirname(found.file))
      : ((await importPack(pack, found)) as unknown as ToolPack);
    const module = guard?.(loaded) ?? loaded;
    return { name, file: found.file, options, own, directory, guard, module, problem: undefined };
  } catch (error) {
    const problem = `Pack ${quote(name)} could not be loaded: ${loadProblem(found.file, error)} Fix or reinstall the pack, or take it out of "packs".`;
    // Its limits stay: with --watch it may be loaded later.
    const limits = { ...isolated, guard, problem: escapeInvisible(problem) };
    return { name, file: found.file, options, own, module: undefined, ...limits };
  } finally {
    loading.delete(name);
  }
}

type LoadIsolation = () => Promise<
  typeof import("@agent/core/isolation") & { readonly isolation: Isolation }
>;

/** The proxy of a pack that runs in its own process: its tools are those that the user approved. */
async function isolatedModule(
  name: string,
  file: string,
  { isolation: approved, version }: LockedPack,
  load: LoadIsolation,
): Promise<Pick<LoadedPack, "module" | "problem">> {
  if (approved === undefined) return { module: undefined, problem: undefined };
  const { isolation, readGrants, readManifest } = await load();
  const review = `agent pack update ${name}`;
  const module = isolation.pack({
    ...{ name, entry: file, review, required: approved.required },
    manifest: readManifest(approved.manifest),
    grants: readGrants(approved.grants),
  });
  const found = installedVersion(file);
  const problem =
    found === undefined || found === version
      ? undefined
      : `The pack ${quote(name)} is version ${found}, and you approved ${version}: its tools stay as you approved them. Review the change with: ${review}`;
  return { module, problem };
}

/** The version in the package.json that a file belongs to. */
function installedVersion(file: string): string | undefined {
  const path = findPackageJSON(file);
  const manifest: unknown = path === undefined ? undefined : JSON.parse(readFileSync(path, "utf8"));
  return isRecord(manifest) && typeof manifest.version === "string" ? manifest.version : undefined;
}

function findPackageJSON(file: string): string | undefined {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const path = join(directory, "package.json");
    if (existsSync(path)) return path;
    if (dirname(directory) === directory) return undefined;
  }
}

/** Whether a pack object from a config's code is one of ours: the same object that the CLI loads under that name. */
async function isOwnModule({ packName, register }: ToolPack): Promise<boolean> {
  const found = typeof packName === "string" ? resolvePack(packName, []) : undefined;
  if (packName === undefined || !found || !isOwnPack(packName, found)) return false;
  const own = await importPackage(found.file).catch(() => undefined);
  return own?.register === register;
}

/** The user's approval from when the pack was added; absent for one of ours, and for one that was selected by hand. */
function lockEntry({ name, source }: SelectedPack, found: ResolvedPack): LockedPack | undefined {
  if (isOwnPack(name, found) || source === undefined) return undefined;
  return readPackLock(packLockFile(source.file))[name];
}

/** Runs a project file in the version that was trusted with its config; Node loads an installed package. */
async function importPack(
  { source, modules }: SelectedPack,
  { file, local, own }: ResolvedPack,
): Promise<Record<string, unknown>> {
  const installed = own || (!local && (source === undefined || isInstalled(file, dirname(source.file))));
  if (installed || modules === undefined) return await importPackage(file);
  return await withinTime(file, () => modules.import(file));
}

async function importPackage(file: string): Promise<Record<string, unknown>> {
  const module: Record<string, unknown> = await withinTime(file, () => import(pathToFileURL(file).href));
  // Node does not detect the named exports of every CommonJS module; the default export then has all of them.
  const isCommonJs = createRequire(import.meta.url).cache[file] !== undefined;
  return isCommonJs && typeof module.register !== "function"
    ? (module.default as Record<string, unknown>)
    : module;
}

/** Reports the names of the packs being loaded if code of one of them exits the process. */
async function namedIfItEnds<T>(loading: ReadonlySet<string>, load: () => Promise<T>): Promise<T> {
  const tell = (): void => {
    const names = [...loading].map((name) => quote(name)).join(", ");
    const which = loading.size === 1 ? `the pack ${names}` : `one of the packs ${names}`;
    process.stderr.write(`agent: ${which} ended the process while it was loaded.\n`);
  };
  process.once("exit", tell);
  try {
    return await load();
  } finally {
    process.off("exit", tell);
  }
}

function notBuilt(name: string, entry: string): string {
  return `The pack ${quote(name)} is there, but ${quotePath(entry)} is not. Build it first: npm run build, in its folder.`;
}

function missing({ name, origin, source }: SelectedPack): string {
  const place = source ? locate(source.file, source.text, valuePattern(name)) : origin;
  if (isLocal(name)) return `${place}: the pack ${quote(name)} does not exist, or is not a file.`;
  const directory = source ? dirname(source.file) : process.cwd();
  // Only a program started by Yarn can find the packages of such a project.
  if (findManualInstall(directory)?.plugAndPlay && process.versions.pnp === undefined) {
    return `${place}: the pack ${quote(name)} cannot be found, because Yarn Plug'n'Play installs this project and Yarn did not start this command. Run: yarn agent`;
  }
  const isApproved = source !== undefined && readPackLock(packLockFile(source.file))[name] !== undefined;
  const isOwn = isOwnPack(name, { file: "", local: false, own: false });
  // The code of another pack would run with the rights of the user if npm alone installed it.
  const user = isInside(configDirectory(), directory) ? " --user" : "";
  const command = isApproved || isOwn ? installCommand(name, directory) : `agent pack add ${name}${user}`;
  return `${place}: the pack ${quote(name)} is not installed. Run: ${command}`;
}

function withoutPreset(): string {
  return `${DEFAULT_PACK} is not installed, so there are no tools for files, search and commands. Run: npm install ${DEFAULT_PACK}`;
}

/** Whether two packs register the same tool name. Searches all causes, because the collision may be inside a preset. */
function isCollision(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isAgentError(cause, "tool_duplicate")) return true;
  }
  return false;
}
