import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DEFAULT_PACK } from "../config/layers.js";
import { requireJiti } from "../requireCjs.js";

/** A pack's file, and whether it is a file of the project rather than an installed package. */
export interface ResolvedPack {
  readonly file: string;
  readonly local: boolean;
}

/**
 * Where packs may come from: the directories are tried in order, then the CLI's own dependencies, and those of its
 * preset: not every package manager puts them where the CLI could see them.
 */
export function resolvePack(name: string, directories: readonly string[]): ResolvedPack | undefined {
  if (isLocal(name)) {
    const file = directories
      .map((directory) => resolve(directory, name))
      .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    return file === undefined ? undefined : { file, local: true };
  }
  const own = fileURLToPath(import.meta.url);
  for (const base of [...directories.map((directory) => join(directory, "_")), own]) {
    const file = resolvePackage(name, base);
    if (file !== undefined) return { file, local: false };
  }
  const preset = resolvePackage(DEFAULT_PACK, own);
  const file = preset === undefined ? undefined : resolvePackage(name, preset);
  return file === undefined ? undefined : { file, local: false };
}

export function isLocal(name: string): boolean {
  return name.startsWith(".") || isAbsolute(name);
}

function resolvePackage(name: string, base: string): string | undefined {
  try {
    return createRequire(base).resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") return undefined;
    // It exists, but only for import: Node resolves that from another directory only through a helper.
    const url = requireJiti().createJiti(pathToFileURL(base).href).esmResolve(name, { try: true });
    return url === undefined ? undefined : fileURLToPath(url);
  }
}
