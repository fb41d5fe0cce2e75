import type { Stats } from "node:fs";
import { nodeCrypto, nodeFs, nodeOs, nodePath } from "../files/nodeModules.js";
import { foldPath } from "../paths/foldPath.js";

const PRIVATE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * The directory of locks: in the user's runtime directory, else in their state directory. Other users can write to
 * neither, so none of them can occupy the name beforehand. The system's own runtime directory is also used if the
 * environment does not name it, so that processes with and without a login session share their locks.
 *
 * @example
 * ```ts
 * import { lockDirectory } from "@agent/core/toolkit";
 *
 * console.log(typeof lockDirectory()); // string
 * ```
 */
export function lockDirectory(): string {
  const { join, isAbsolute } = nodePath;
  const user = process.geteuid?.();
  if (user === undefined) return join(nodeOs.tmpdir(), "agent-locks");
  const runtime = [process.env.XDG_RUNTIME_DIR, `/run/user/${user}`].find((directory) => {
    return directory !== undefined && isAbsolute(directory) && isPrivate(lookAt(directory));
  });
  if (runtime !== undefined) return join(runtime, "agent-locks");
  const state = process.env.XDG_STATE_HOME;
  const base = state !== undefined && isAbsolute(state) ? state : join(homeDirectory(), ".local/state");
  return join(base, "agent/locks");
}

/**
 * The file in `lockDirectory` that locks a canonical path.
 *
 * @example
 * ```ts
 * import { dirname } from "node:path";
 * import { lockDirectory, lockFile } from "@agent/core/toolkit";
 *
 * console.log(dirname(lockFile("/srv/app")) === lockDirectory()); // true
 * ```
 */
export function lockFile(path: string): string {
  const name = nodeCrypto.createHash("sha256").update(foldPath(path)).digest("hex").slice(0, 32);
  return nodePath.join(lockDirectory(), name);
}

/**
 * Creates the directory. Returns false if that fails, or if another user owns it or can write to it: then there are no
 * locks, because another user must not be able to block this one.
 *
 * @example
 * ```ts
 * import { lockFile, prepareLockDirectory, tryAcquireLock } from "@agent/core/toolkit";
 *
 * const lock = prepareLockDirectory() ? tryAcquireLock(lockFile(process.cwd())) : undefined;
 * lock?.release();
 * console.log("done"); // done
 * ```
 */
export function prepareLockDirectory(): boolean {
  const directory = lockDirectory();
  // Check first: it nearly always exists, and a failing mkdir takes longer.
  const info = lookAt(directory) ?? makePrivate(directory);
  return process.platform === "win32" ? info !== undefined : isPrivate(info);
}

function isPrivate(info: Stats | undefined): boolean {
  if (info === undefined || !info.isDirectory()) return false;
  return info.uid === process.geteuid?.() && (info.mode & WRITABLE_BY_OTHERS) === 0;
}

/**
 * Creates a directory for this user alone, and its missing parents; `undefined` if that fails. Node's own `recursive`
 * never returns where no directory can be created, such as below `/proc`.
 */
function makePrivate(directory: string): Stats | undefined {
  const parent = nodePath.dirname(directory);
  if (parent !== directory && lookAt(parent) === undefined) makePrivate(parent);
  try {
    nodeFs.mkdirSync(directory, { mode: PRIVATE });
  } catch {
    // Another process may have created it.
  }
  return lookAt(directory);
}

/** `$HOME`, unless it belongs to another user, as under `sudo -u`: then the account's own. */
function homeDirectory(): string {
  const { HOME } = process.env;
  const isOwn = (path: string): boolean => lookAt(path)?.uid === process.geteuid?.();
  if (HOME !== undefined && nodePath.isAbsolute(HOME) && isOwn(HOME)) return HOME;
  try {
    const { homedir } = nodeOs.userInfo();
    if (isOwn(homedir)) return homedir;
  } catch {
    // The user has no account, as in some containers.
  }
  // Nothing can be created below this path.
  return "/dev/null";
}

/** `undefined` if it does not exist or may not be accessed. */
function lookAt(path: string): Stats | undefined {
  try {
    return nodeFs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
