import type { Stats } from "node:fs";
import { nodeCrypto, nodeFs, nodeOs, nodePath } from "../files/nodeModules.js";
import { foldPath } from "../paths/foldPath.js";
import { quotePath } from "../text/describe.js";

/** Where locks are kept: the same place for all processes of a user, whatever TMPDIR says. */
export function lockDirectory(): string {
  const user = process.geteuid?.();
  return user === undefined ? nodePath.join(nodeOs.tmpdir(), "agent-locks") : `/tmp/.agent-locks-${user}`;
}

/** The file in it that locks a canonical path. */
export function lockFile(path: string): string {
  const name = nodeCrypto.createHash("sha256").update(foldPath(path)).digest("hex").slice(0, 32);
  return nodePath.join(lockDirectory(), name);
}

/** Makes the directory. Returns false if that fails. Throws if another user owns it or can write to it. */
export function prepareLockDirectory(): boolean {
  const directory = lockDirectory();
  // Look first: it is there nearly always, and an error of mkdir takes longer than the look.
  const info = lookAt(directory) ?? makePrivate(directory);
  if (info === undefined) return false;
  const isPrivate =
    info.isDirectory() && info.uid === (process.geteuid?.() ?? info.uid) && (info.mode & 0o022) === 0;
  if (isPrivate || process.platform === "win32") return true;
  throw new Error(
    `${quotePath(directory)}, the directory of locks against other processes, is owned or writable by another user; nothing was changed. ` +
      "Ask the user to remove it.",
  );
}

/** Makes a directory for this user alone; what is there now if another process was faster; `undefined` if neither works. */
function makePrivate(directory: string): Stats | undefined {
  try {
    nodeFs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return undefined;
  }
  return lookAt(directory);
}

/** `undefined` if nothing is there or the system does not allow the look. */
function lookAt(path: string): Stats | undefined {
  try {
    return nodeFs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
