import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { plugAndPlayFolders } from "../../assembly/packages/plugAndPlay.js";
import { PACK_KEYWORD } from "../../settings/packs/entry.js";

export interface InstalledPack {
  readonly name: string;
  readonly version: string;
  /** The package's folder. */
  readonly directory: string;
  /** Whether it is installed next to this CLI: then it is trusted like the CLI itself. */
  readonly besideCli: boolean;
}

/** Packs installed for a directory, nearest first, and those that came with the CLI. Each name once. */
export function findInstalledPacks(directory: string): InstalledPack[] {
  const packs = new Map<string, InstalledPack>();
  const add = (folder: string, besideCli: boolean): void => {
    const pack = readPack(folder, besideCli);
    if (pack && !packs.has(pack.name)) packs.set(pack.name, pack);
  };
  const here = dirname(fileURLToPath(import.meta.url));
  const cliFolders = moduleFolders(here);
  for (const folder of plugAndPlayFolders(directory).values()) add(folder, false);
  for (const folder of new Set([...moduleFolders(directory), ...cliFolders])) {
    for (const name of packageNames(folder)) add(join(folder, name), cliFolders.includes(folder));
  }
  for (const folder of plugAndPlayFolders(here).values()) add(folder, true);
  return [...packs.values()].sort((a, b) => a.name.localeCompare(b.name, "en"));
}

/** The folder of a package that is installed in `directory` itself. */
export function installedFolder(name: string, directory: string): string | undefined {
  const folder = plugAndPlayFolders(directory).get(name) ?? join(directory, "node_modules", name);
  return existsSync(join(folder, "package.json")) ? folder : undefined;
}

/** The folder of a package that Node resolves from `directory`: in a workspace it may be installed further up. */
export function reachableFolder(name: string, directory: string): string | undefined {
  const folders = moduleFolders(directory).map((folder) => join(folder, name));
  return (
    installedFolder(name, directory) ?? folders.find((folder) => existsSync(join(folder, "package.json")))
  );
}

/** `node_modules` of a directory and its parents, in Node's lookup order. */
function moduleFolders(start: string): string[] {
  const folders: string[] = [];
  for (let directory = start; ; directory = dirname(directory)) {
    const folder = join(directory, "node_modules");
    if (existsSync(folder)) folders.push(folder);
    if (dirname(directory) === directory) return folders;
  }
}

function packageNames(folder: string): string[] {
  return entries(folder).flatMap((name) =>
    name.startsWith("@") ? entries(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("."));
  } catch {
    // Not a directory, or not readable.
    return [];
  }
}

function readPack(directory: string, besideCli: boolean): InstalledPack | undefined {
  try {
    const { name, version, keywords } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    if (typeof name !== "string" || !Array.isArray(keywords) || !keywords.includes(PACK_KEYWORD))
      return undefined;
    return { name, version: String(version), directory, besideCli };
  } catch {
    return undefined;
  }
}
