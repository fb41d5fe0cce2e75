import { mkdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute } from "node:path";

const PRIVATE_DIRECTORY = 0o700;
// A path below a file: every write there fails with an error that names it.
const NO_HOME = "/dev/null";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's home: `$HOME`, or the account's home if that is empty or relative. Never a relative path: files stored
 * there would end up in the project.
 */
export function homeDirectory(env: Environment = process.env): string {
  return absolutePath(env.HOME) ?? accountHome() ?? NO_HOME;
}

/**
 * Creates a directory that only its owner can enter, and its missing parents. Node's own `recursive` never returns
 * where no directory can be created, such as below `/proc`.
 */
export function ensurePrivateDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) ensurePrivateDirectory(dirname(path));
  try {
    mkdirSync(path, PRIVATE_DIRECTORY);
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * The XDG base directory specification requires absolute paths; a relative one would depend on the working directory.
 */
export function absolutePath(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** The home directory in the system's account database. `homedir()` would return an empty HOME. */
function accountHome(): string | undefined {
  try {
    return absolutePath(userInfo().homedir);
  } catch {
    // An account without an entry, as in some containers.
    return undefined;
  }
}
