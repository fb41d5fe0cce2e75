import { existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { requireJiti } from "../../process/requireCjs.js";
import { DEFAULT_PACK } from "../layers.js";
import { isInForeignFolder } from "../modules/resolveModule.js";
import { entryOf } from "./entry.js";
import { isPluginFolder, PLUGIN_FILE } from "./plugin.js";

const FILE_PREFIX = "file:";
const OWN_NAME = /^@agent\/[a-z0-9-]+$/;

/** A pack's file, and whether it is a project file rather than an installed package. */
export interface ResolvedPack {
  /** The canonical path. */
  readonly file: string;
  readonly local: boolean;
  /** Whether the CLI finds the same file: it came with the CLI, or is installed next to it. */
  readonly own: boolean;
}

/** Whether a pack is one of `@agent`: a package installed under such a name, whatever name its code declares. */
export function isOwnPack(name: string, found: ResolvedPack): boolean {
  return !found.local && OWN_NAME.test(name);
}

/**
 * Finds a pack: in the directories in order, then among the CLI's own dependencies and those of its preset, which not
 * every package manager installs where the CLI finds them.
 */
export function resolvePack(name: string, directories: readonly string[]): ResolvedPack | undefined {
  if (isLocal(name)) {
    const file = directories
      .map((directory) => localEntry(resolve(directory, localPath(name))))
      .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    return file === undefined ? undefined : { file: realpathSync(file), local: true, own: false };
  }
  const beside = resolveInstalled(name, directories);
  if (beside !== undefined) return beside;
  const file = resolveOwn(name);
  return file === undefined ? undefined : { file, local: false, own: true };
}

/** Finds an installed package from one of the directories. The CLI's own dependencies are not searched. */
export function resolveInstalled(name: string, directories: readonly string[]): ResolvedPack | undefined {
  for (const directory of directories) {
    if (isInForeignFolder(name, directory)) continue;
    const file = resolvePackage(name, join(directory, "_"));
    if (file !== undefined) return { file, local: false, own: file === resolveOwn(name) };
  }
  return undefined;
}

function resolveOwn(name: string): string | undefined {
  const own = fileURLToPath(import.meta.url);
  const file = resolvePackage(name, own);
  if (file !== undefined) return file;
  const preset = resolvePackage(DEFAULT_PACK, own);
  return preset === undefined ? undefined : resolvePackage(name, preset);
}

export function isLocal(name: string): boolean {
  return name.startsWith(".") || name.startsWith(FILE_PREFIX) || isAbsolute(name);
}

/** Converts `file:../pack`, as npm writes it, to a path. */
function localPath(name: string): string {
  return name.startsWith(FILE_PREFIX) ? name.slice(FILE_PREFIX.length) : name;
}

/** The entry of a folder with a package.json, or the manifest of a plugin; any other path is the file itself. */
function localEntry(path: string): string {
  if (isPluginFolder(path)) return join(path, PLUGIN_FILE);
  return existsSync(join(path, "package.json")) ? entryOf(path) : path;
}

/** The missing entry file of a pack that is installed but not built. `undefined` if there is no such package. */
export function unbuiltEntry(name: string, directories: readonly string[]): string | undefined {
  const folders = isLocal(name)
    ? directories.map((directory) => resolve(directory, localPath(name)))
    : directories
        .filter((directory) => !isInForeignFolder(name, directory))
        .flatMap((directory) =>
          (createRequire(join(directory, "_")).resolve.paths(name) ?? []).map((folder) => join(folder, name)),
        );
  const folder = folders.find((path) => existsSync(join(path, "package.json")));
  return folder === undefined ? undefined : entryOf(folder);
}

function resolvePackage(name: string, base: string): string | undefined {
  try {
    return realpathSync(createRequire(base).resolve(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") return undefined;
    // The package has an entry for `import` only. Node cannot resolve that from another directory, but jiti can.
    const url = requireJiti().createJiti(pathToFileURL(base).href).esmResolve(name, { try: true });
    return url === undefined ? undefined : realpathSync(fileURLToPath(url));
  }
}
