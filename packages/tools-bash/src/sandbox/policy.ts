import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { canonicalPath, isInside } from "@agent/core/toolkit";

/** Paths and names the host protects in addition to the well-known names. */
export interface HostFiles {
  /** Absolute paths. */
  readonly paths: readonly string[];
  /**
   * Names directly in a writable directory. An entry for one key, `package.json#agent`, is skipped: it would cover a
   * whole file.
   */
  readonly names: readonly string[];
}

/**
 * The access of a sandboxed command, whichever program enforces it: the mounts of bubblewrap and the profile of
 * `sandbox-exec` are derived from it. All paths are canonical.
 */
export interface SandboxPolicy {
  /** Directories that can be written; none is inside another. Files in them that run code later stay protected. */
  readonly writable: readonly string[];
  /** Further protected paths and names. */
  readonly guarded: HostFiles;
  /** Files and directories that can be read, but not written, although they are in a private directory. */
  readonly shown: readonly string[];
  /** Files and directories that cannot be read. */
  readonly hidden: readonly string[];
  /** Full network, none, or only a proxy on this port of the loopback interface. */
  readonly network: boolean | { readonly proxyPort: number };
  /** Whether commands may make unix sockets. */
  readonly unixSockets: boolean;
}

/** Directories with earlier downloads: programs can still read them there. */
const STORES: Readonly<Record<string, { readonly place: string; readonly own: string }>> = {
  GOMODCACHE: { place: "go/pkg/mod", own: "go-mod" },
  CARGO_HOME: { place: ".cargo/registry", own: "cargo" },
  // Contains the store. pnpm refuses modules that were linked from another one.
  PNPM_HOME: {
    place: process.platform === "darwin" ? "Library/pnpm" : ".local/share/pnpm",
    own: "pnpm",
  },
};

/**
 * The variables of a command, with the caches of package managers redirected to a private directory: otherwise they are
 * in the home directory, which a sandboxed command cannot write. Stores with earlier downloads stay where they are. A
 * variable that points to a writable path is kept. npm sets its own for every script, so it is not enough that a
 * variable is set.
 */
export function withPrivateCaches(
  env: Readonly<Record<string, string>>,
  directory: string,
  writable: readonly string[],
): Record<string, string> {
  const stores = Object.entries(STORES).filter(([, { place }]) => !existsSync(join(homedir(), place)));
  const caches: Readonly<Record<string, string>> = {
    npm_config_cache: join(directory, "npm"),
    YARN_CACHE_FOLDER: join(directory, "yarn"),
    YARN_GLOBAL_FOLDER: join(directory, "yarn-global"),
    PIP_CACHE_DIR: join(directory, "pip"),
    UV_CACHE_DIR: join(directory, "uv"),
    GOCACHE: join(directory, "go-build"),
    ...Object.fromEntries(stores.map(([name, { own }]) => [name, join(directory, own)])),
  };
  const canWrite = (path: string): boolean => {
    if (!isAbsolute(path)) return true;
    try {
      const real = canonicalPath(path);
      return writable.some((root) => isInside(root, real));
    } catch {
      // In a directory of another user.
      return false;
    }
  };
  const kept = Object.entries(env).filter(([name, value]) => !Object.hasOwn(caches, name) || canWrite(value));
  return { ...caches, ...Object.fromEntries(kept) };
}

/**
 * The directories between a writable one and a path in it. A sandbox keeps commands from renaming them: otherwise a
 * command could move away what is protected below, for itself or for a command that starts at the same time.
 */
export function parentsInside(path: string, writable: readonly string[]): string[] {
  const root = writable.find((directory) => directory !== path && isInside(directory, path));
  const parents: string[] = [];
  if (root === undefined) return parents;
  for (let parent = dirname(path); parent !== root; parent = dirname(parent)) parents.push(parent);
  return parents;
}
