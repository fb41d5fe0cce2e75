import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isInside, isRecord, quotePath } from "@agent/internal";

/** bubblewrap accepts 9,000 arguments, and each package needs three. */
const MAX_PACKAGES = 2000;

/** The files a pack needs to run: its own package and all its dependencies. */
export interface PackageFiles {
  /** Canonical directories, none inside another. */
  readonly directories: readonly string[];
  /** Symlinks outside of those directories by which Node finds packages. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/**
 * Finds the files of the package of `entry`, which is a canonical path. The author of a pack chooses the names of its
 * dependencies, and in a folder also the links to them: so a link to the user's `projects`, or to a directory around the package
 * or a project, is not followed. A package that is part of a project may depend on others there.
 */
export function packageFiles(entry: string, projects: readonly string[] = []): PackageFiles {
  const root = packageRoot(entry);
  const isForeign = (path: string): boolean =>
    !isInstalled(path) &&
    ([root, ...projects].some((one) => isInside(path, one)) ||
      projects.some((one) => isInside(one, path) && (isInstalled(root) || !isInside(one, root))));
  const directories = new Set<string>();
  const links = new Map<string, string>();
  const waiting = [root];
  for (const directory of waiting) {
    if (directories.has(directory)) continue;
    directories.add(directory);
    if (directories.size > MAX_PACKAGES) {
      throw new Error(`${quotePath(root)} depends on more than ${MAX_PACKAGES} packages.`);
    }
    for (const name of dependenciesOf(directory)) {
      const path = findPackage(name, directory);
      if (path === undefined) continue;
      const target = realpathSync(path);
      if (target !== root && isForeign(target)) continue;
      if (target !== path) links.set(path, target);
      waiting.push(target);
    }
  }
  const outer = [...directories].filter(
    (one) => ![...directories].some((other) => other !== one && isInside(other, one)),
  );
  return {
    directories: outer,
    links: [...links]
      .filter(([path]) => !outer.some((directory) => isInside(directory, path)))
      .map(([path, target]) => ({ path, target })),
  };
}

/** The directories that a pack reads besides its package and what is installed: those that links in its folder lead to. */
export function linkedDirectories(entry: string, projects: readonly string[]): string[] {
  const { directories } = packageFiles(entry, projects);
  return directories.filter((path) => !isInside(path, entry) && !isInstalled(path));
}

function isInstalled(path: string): boolean {
  return path.split(sep).includes("node_modules");
}

/** The directory of the package that a file belongs to. For a file without a package, only the file is readable. */
export function packageRoot(file: string): string {
  for (let directory = dirname(file); dirname(directory) !== directory; directory = dirname(directory)) {
    if (manifestOf(directory) !== undefined) return directory;
  }
  return file;
}

/** The names of the packages that Node may resolve, including optional ones, which may be missing. */
function dependenciesOf(directory: string): string[] {
  const manifest = manifestOf(directory) ?? {};
  return ["dependencies", "peerDependencies", "optionalDependencies"].flatMap((kind) =>
    Object.keys(isRecord(manifest[kind]) ? manifest[kind] : {}),
  );
}

function findPackage(name: string, from: string): string | undefined {
  if (name.split("/").some((part) => part === ".." || part === "." || part === "")) return undefined;
  for (let directory = from; ; directory = dirname(directory)) {
    const path = join(directory, "node_modules", name);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined && manifestOf(path) !== undefined)
      return path;
    if (dirname(directory) === directory) return undefined;
  }
}

function manifestOf(directory: string): Record<string, unknown> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    return isRecord(manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
