import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { canonicalPath, findOnWindows, isInside } from "@agent/internal";
import { homeDirectory } from "./directories.js";

/**
 * The path of a program on the user's PATH that does not belong to a project. Package runners put a project's
 * `node_modules/.bin` first: a `git` in there, from the project or written by a model, would run without approval.
 * `undefined` if there is no such program.
 */
export function ownProgram(
  name: string,
  cwd: string = process.cwd(),
  path: string = process.env.PATH ?? "",
): string | undefined {
  const foreign = foreignDirectories(cwd);
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory) || isPackageBin(directory)) continue;
    const file = process.platform === "win32" ? findOnWindows(join(directory, name)) : join(directory, name);
    if (file === undefined) continue;
    // Check both the directory and the target of a symlink: either may be in the project.
    const places = [canonicalPath(directory), executable(file)];
    if (places.every((place) => place !== undefined && !foreign.some((one) => isInside(one, place))))
      return file;
  }
  return undefined;
}

/**
 * A directory and the root of its repository. A directory that contains the whole home is excluded: the user's own
 * programs are below it.
 */
function foreignDirectories(cwd: string): string[] {
  const home = canonicalPath(homeDirectory());
  return [cwd, repositoryRoot(cwd)].map(canonicalPath).filter((directory) => !isInside(directory, home));
}

/**
 * Any `.git` counts, including one of another user: the more directories are foreign, the fewer programs are trusted.
 */
function repositoryRoot(cwd: string): string {
  for (let directory = cwd; dirname(directory) !== directory; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
  }
  return cwd;
}

function isPackageBin(directory: string): boolean {
  return basename(directory) === ".bin" && basename(dirname(directory)) === "node_modules";
}

/** The canonical path of an executable file; `undefined` if it is not one. */
function executable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
