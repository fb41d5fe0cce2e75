import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { canonicalPath, isInside } from "@agent/internal";
import { homeDirectory } from "./paths.js";

/**
 * The path of a program on the person's PATH that no project brings. Package runners put `node_modules/.bin` of a
 * project first, where a `git` of the project, or of a model that writes files, would run unasked. `undefined` if there
 * is none.
 */
export function ownProgram(
  name: string,
  cwd: string = process.cwd(),
  path: string = process.env.PATH ?? "",
): string | undefined {
  const foreign = foreignDirectories(cwd);
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory) || isPackageBin(directory)) continue;
    const file = join(directory, process.platform === "win32" ? `${name}.exe` : name);
    // Both the name and what it leads to: either may be a link into the project.
    const places = [canonicalPath(directory), executable(file)];
    if (places.every((place) => place !== undefined && !foreign.some((one) => isInside(one, place))))
      return file;
  }
  return undefined;
}

/** A directory and the root of its repository. Not a directory that holds the whole home: the person's own programs are there. */
function foreignDirectories(cwd: string): string[] {
  const home = canonicalPath(homeDirectory());
  return [cwd, repositoryRoot(cwd)].map(canonicalPath).filter((directory) => !isInside(directory, home));
}

function repositoryRoot(cwd: string): string {
  for (let directory = cwd; dirname(directory) !== directory; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
  }
  return cwd;
}

function isPackageBin(directory: string): boolean {
  return basename(directory) === ".bin" && basename(dirname(directory)) === "node_modules";
}

/** What an executable file really is; `undefined` if it is none. */
function executable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
