import { existsSync, lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findWorktree, ownAncestors } from "@agent/internal";
import { homeDirectory } from "@agent/terminal/host";
import { configDirectory } from "../../process/paths.js";

/** A project may also have its config under a key of this file. */
export const PACKAGE = "package.json";

/** The key of a config in package.json. */
export const PACKAGE_KEY = "agent";

/** The names of a project's config, in search order. There are no others. */
export const PROJECT_PLACES = [
  "agent.config.ts",
  "agent.config.js",
  "agent.config.mjs",
  "agent.config.json",
  "agent.config.yaml",
  PACKAGE,
] as const;

/** The names of the user's own config in the config directory. */
export const USER_PLACES = ["config.ts", "config.js", "config.mjs", "config.json", "config.yaml"] as const;

/** The user's own config file, if there is one. */
export function findUserConfig(): string | undefined {
  return USER_PLACES.map((name) => join(configDirectory(), name)).find((path) => existsSync(path));
}

/**
 * The last directory that is searched: the repository's root or the home directory, whichever comes first on the way
 * up. Otherwise it is the working directory itself: a config in `/tmp` belongs to no project. A repository of another
 * user, or one above a directory that others can write, is ignored.
 */
export function stopDirectory(cwd: string, home: string = homeDirectory()): string {
  const start = resolve(cwd);
  const root = findWorktree(start);
  for (const directory of ownAncestors(start)) {
    if (directory === resolve(home) || directory === root) return directory;
  }
  return start;
}

/** Whether some directory from `cwd` up to `stop` has a file with a config's name. */
export function hasPlace(cwd: string, stop: string): boolean {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (PROJECT_PLACES.some((place) => isThere(join(directory, place)))) return true;
    if (directory === stop || dirname(directory) === directory) return false;
  }
}

/** Whether the path exists. Also true for a dangling symlink, so that it is refused and not overlooked. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
