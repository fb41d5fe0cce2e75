import { nodeFs, nodePath } from "../files/nodeModules.js";
import { isInside } from "../paths/isInside.js";
import { SYSTEM_DIRECTORIES } from "./helperEnvironment.js";

/**
 * The absolute path of a system program, with every symlink resolved. `undefined` if there is none that only the system
 * or this user can change, or if it is in one of the `writable` directories. PATH is not used.
 *
 * @example
 * ```ts
 * import { findProgram } from "@agent/core/toolkit";
 *
 * console.log(findProgram("no-such-program")); // undefined
 * ```
 */
export function findProgram(name: string, writable: readonly string[] = []): string | undefined {
  for (const directory of SYSTEM_DIRECTORIES) {
    const path = canonical(nodePath.join(directory, name));
    if (path !== undefined && isTrusted(path) && !writable.some((root) => isInside(root, path))) return path;
  }
  return undefined;
}

function canonical(path: string): string | undefined {
  try {
    return nodeFs.realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Whether no other user can change the program or a directory on the way to it. */
function isTrusted(path: string): boolean {
  const status = nodeFs.statSync(path, { throwIfNoEntry: false });
  if (status === undefined || !isOurs(status.uid) || (status.mode & 0o002) !== 0) return false;
  return path === "/" || isTrusted(nodePath.dirname(path));
}

// In a user namespace, the owner of the system's files may be shown as "no one".
const UNMAPPED_USER = 65534;

function isOurs(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.() || uid === UNMAPPED_USER;
}
