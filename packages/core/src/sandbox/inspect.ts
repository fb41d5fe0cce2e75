import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

/** A file or directory below a directory that commands may write. */
export interface Found {
  readonly isLink: boolean;
  readonly isDirectory: boolean;
  /** Identifies the file or directory; for a link it is the target. */
  readonly identity: string;
}

/**
 * Inspects a path without following any symlink below `root`. `undefined` if nothing exists there, or only behind a
 * symlink.
 */
export function identify(root: string, path: string): Found | undefined {
  return inParent(root, path, (name) => {
    const found = lstatSync(name, { throwIfNoEntry: false, bigint: true });
    if (found === undefined) return undefined;
    const isLink = found.isSymbolicLink();
    const identity = isLink ? `link to ${readlinkSync(name)}` : `${found.dev}:${found.ino}`;
    return { isLink, isDirectory: found.isDirectory(), identity };
  });
}

/** A file or directory that a command created under a protected name. */
export interface RefusedFile {
  /** Relative to the writable directory. */
  readonly path: string;
  /** Whether it has a new name; if not, it could not be renamed. */
  readonly isRenamed: boolean;
}

const NAME_TOO_LONG = "ENAMETOOLONG";
/** The permissions that a directory's owner needs to list it and to rename its entries. */
const OWNER_RIGHTS = 0o700;

/**
 * Renames something that a command created, to a name next to the old one. `undefined` if there is nothing to rename.
 */
export function renameRefused(root: string, path: string): RefusedFile | undefined {
  const name = relative(root, path);
  try {
    const isRenamed = walkTo(root, path, renameAway, { unlock: true });
    return isRenamed ? { path: name, isRenamed } : undefined;
  } catch (error) {
    // A parent is missing, not a directory, or owned by another user: the command did not create what is below it.
    if (isOutOfReach(error)) return undefined;
    return { path: name, isRenamed: false };
  }
}

function renameAway(name: string): boolean {
  if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return false;
  for (let count = 0; ; count++) {
    const suffix = `.refused${count === 0 ? "" : `-${count}`}`;
    try {
      if (renameIfFree(name, `${name}${suffix}`)) return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== NAME_TOO_LONG) throw error;
      // A name too long for the suffix is not renamed.
      if (renameIfFree(name, join(dirname(name), `file${suffix}`))) return true;
    }
  }
}

function renameIfFree(name: string, other: string): boolean {
  if (lstatSync(other, { throwIfNoEntry: false }) !== undefined) return false;
  renameSync(name, other);
  return true;
}

/**
 * The names in a writable directory. A command may have removed the permission to list it. Empty if the directory was
 * moved or replaced with a symlink meanwhile.
 */
export function listUnlocked(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    try {
      return walkTo(root, join(root, "entry"), (name) => readdirSync(dirname(name)), { unlock: true });
    } catch (error) {
      if (isOutOfReach(error)) return [];
      throw error;
    }
  }
}

function isOutOfReach(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Removes a mount point that bubblewrap created. If it is not empty, another program uses it, and it stays. */
export function removeEmpty(root: string, path: string): void {
  inParent(root, path, (name) => {
    const found = lstatSync(name);
    if (found.isDirectory()) rmdirSync(name);
    else if (found.isFile() && found.size === 0) unlinkSync(name);
  });
}

/** Like `walkTo`; `undefined` if that fails. */
function inParent<Result>(root: string, path: string, act: (name: string) => Result): Result | undefined {
  try {
    return walkTo(root, path, act);
  } catch {
    return undefined;
  }
}

/**
 * O_PATH opens a file or directory without read permission, which a command may have removed. Node has no constant for
 * it.
 */
const O_PATH = 0o10000000;
const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Calls `act` with a path that goes through an open descriptor of the real parent directory. Throws if a concurrent
 * command replaced any directory on the way with a symlink. `unlock` restores the owner's permissions that a command
 * removed from the directories on the way.
 */
function walkTo<Result>(
  root: string,
  path: string,
  act: (name: string) => Result,
  { unlock = false } = {},
): Result {
  let directory = openSync(root, DIRECTORY);
  try {
    if (unlock) unlockDirectory(directory);
    for (const name of relative(root, dirname(path)).split(sep).filter(Boolean)) {
      const next = openSync(join(`/proc/self/fd/${directory}`, name), DIRECTORY);
      closeSync(directory);
      directory = next;
      if (unlock) unlockDirectory(directory);
    }
    return act(`/proc/self/fd/${directory}/${basename(path)}`);
  } finally {
    closeSync(directory);
  }
}

/**
 * Calls `act` with a descriptor of a path below `root`, opened without following any symlink. Throws if it does not
 * exist or a symlink is on the way.
 */
export function withOpened<Result>(root: string, path: string, act: (descriptor: number) => Result): Result {
  return walkTo(root, path === root ? join(root, "entry") : path, (name) => {
    const descriptor = openSync(path === root ? `${dirname(name)}/.` : name, O_PATH | constants.O_NOFOLLOW);
    try {
      return act(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

function unlockDirectory(directory: number): void {
  const { mode, uid } = fstatSync(directory);
  if ((mode & OWNER_RIGHTS) === OWNER_RIGHTS || uid !== process.getuid?.()) return;
  chmodSync(`/proc/self/fd/${directory}`, (mode & 0o7777) | OWNER_RIGHTS);
}
