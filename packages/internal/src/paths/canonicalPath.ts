import type { Stats } from "node:fs";
import { nodeFs, nodePath } from "../files/nodeModules.js";
import { quote } from "../text/describe.js";

const MAX_LINKS = 40;

/**
 * The path with every symlink resolved, as far as it exists; components that do not exist yet are appended unchanged.
 *
 * @example
 * ```ts
 * import { mkdirSync, symlinkSync } from "node:fs";
 * import { basename } from "node:path";
 * import { canonicalPath } from "@agent/core/toolkit";
 *
 * mkdirSync("real");
 * symlinkSync("real", "link");
 * console.log(canonicalPath("link/new.txt").endsWith("/real/new.txt"), basename("link")); // true link
 * ```
 */
export function canonicalPath(path: string): string {
  const absolute = nodePath.resolve(path);
  try {
    return nodeFs.realpathSync.native(absolute);
  } catch {
    return walk(absolute);
  }
}

/**
 * `canonicalPath` for many paths that share directories: each directory is looked up once.
 *
 * @example
 * ```ts
 * import { canonicalPaths } from "@agent/core/toolkit";
 *
 * console.log(canonicalPaths(["/no/such/a", "/no/such/b"]).join(" ")); // /no/such/a /no/such/b
 * ```
 */
export function canonicalPaths(paths: readonly string[]): string[] {
  const known = new Map<string, Resolved>();
  return paths.map((path) => {
    const resolved = resolveOnce(nodePath.resolve(path), known);
    // On case-insensitive file systems, the system knows the spelling of an existing name.
    return resolved.exists ? nodeFs.realpathSync.native(resolved.path) : resolved.path;
  });
}

interface Resolved {
  readonly path: string;
  readonly exists: boolean;
}

function resolveOnce(absolute: string, known: Map<string, Resolved>): Resolved {
  const earlier = known.get(absolute);
  if (earlier) return earlier;
  const parent = nodePath.dirname(absolute);
  const resolved =
    parent === absolute
      ? { path: absolute, exists: true }
      : resolveName(resolveOnce(parent, known), nodePath.basename(absolute));
  known.set(absolute, resolved);
  return resolved;
}

function resolveName(directory: Resolved, name: string): Resolved {
  const path = nodePath.join(directory.path, name);
  // Nothing is below a directory that does not exist.
  const stats = directory.exists ? lookUp(path) : undefined;
  if (!stats?.isSymbolicLink()) return { path, exists: stats !== undefined };
  const target = canonicalPath(path);
  return { path: target, exists: lookUp(target) !== undefined };
}

// `realpath` stops at the first missing name, so a dangling symlink that points outside would look harmless.
function walk(absolute: string): string {
  const { root } = nodePath.parse(absolute);
  const pending = absolute.slice(root.length).split(nodePath.sep).filter(Boolean);
  let current = root;
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const next = name === ".." ? nodePath.dirname(current) : nodePath.resolve(current, name);
    const target = linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) throw new Error(`${quote(absolute)} is a loop of symbolic links.`);
    if (nodePath.isAbsolute(target)) current = nodePath.parse(target).root;
    pending.unshift(
      ...target
        .slice(nodePath.isAbsolute(target) ? nodePath.parse(target).root.length : 0)
        .split(nodePath.sep)
        .filter((part) => part !== "" && part !== "."),
    );
  }
  return current;
}

function linkTarget(path: string): string | undefined {
  return lookUp(path)?.isSymbolicLink() ? nodeFs.readlinkSync(path) : undefined;
}

function lookUp(path: string): Stats | undefined {
  try {
    return nodeFs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}
