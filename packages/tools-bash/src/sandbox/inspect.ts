import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

/** What is at a path below a directory that commands write to. */
export interface Found {
  readonly isLink: boolean;
  readonly isDirectory: boolean;
  /** Differs for another file or directory; of a link it is the place it leads to. */
  readonly identity: string;
}

/** Looks at a path without following any link below `root`. `undefined` if there is nothing, or only behind a link. */
export function identify(root: string, path: string): Found | undefined {
  return inParent(root, path, (name) => {
    const found = lstatSync(name, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const isLink = found.isSymbolicLink();
    const identity = isLink ? `link to ${readlinkSync(name)}` : `${found.dev}:${found.ino}`;
    return { isLink, isDirectory: found.isDirectory(), identity };
  });
}

/** Gives what a command made another name, beside the old one. Returns whether that was done. */
export function renameRefused(root: string, path: string): boolean {
  const done = inParent(root, path, (name) => {
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return false;
    for (let count = 0; ; count++) {
      const other = `${name}.refused${count === 0 ? "" : `-${count}`}`;
      if (lstatSync(other, { throwIfNoEntry: false }) !== undefined) continue;
      renameSync(name, other);
      return true;
    }
  });
  return done ?? false;
}

/** Removes a mount point that bubblewrap made. Whatever is not empty is somebody else's and stays. */
export function removeEmpty(path: string): void {
  try {
    const found = lstatSync(path);
    if (found.isDirectory()) rmdirSync(path);
    else if (found.isFile() && found.size === 0) unlinkSync(path);
  } catch {
    // It is not empty, or gone.
  }
}

/**
 * Calls `act` with a name of the path that stays with its real parent directory. A command that runs at the same time
 * may put a link in place of any directory on the way, and then nothing is done.
 */
function inParent<Result>(root: string, path: string, act: (name: string) => Result): Result | undefined {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let directory: number | undefined;
  try {
    directory = openSync(root, flags);
    for (const name of relative(root, dirname(path)).split(sep).filter(Boolean)) {
      const next = openSync(join(`/proc/self/fd/${directory}`, name), flags);
      closeSync(directory);
      directory = next;
    }
    return act(join(`/proc/self/fd/${directory}`, basename(path)));
  } catch {
    return undefined;
  } finally {
    if (directory !== undefined) closeSync(directory);
  }
}
