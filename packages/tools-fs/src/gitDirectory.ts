import { statSync } from "node:fs";
import { join } from "node:path";

const PARTS = new Set(["HEAD", "objects", "commondir"]);

/**
 * Whether git would take a directory for a repository's own, whatever its name: what `.git` links to, what a
 * `.git` file names, or a bare repository. A worktree's has `commondir` instead of objects. `added` is an entry
 * that is about to be there, too.
 */
export function isGitDirectory(directory: string, added?: string): boolean {
  const has = (name: string): boolean => {
    return name === added || statSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  };
  try {
    return has("HEAD") && (has("objects") || has("commondir"));
  } catch {
    // A file on the way, or a directory that may not be entered: git cannot use it either.
    return false;
  }
}

/** Whether an entry of this name is all that is missing to make a repository of a directory. */
export function completesRepository(directory: string, name: string): boolean {
  return PARTS.has(name) && !isGitDirectory(directory) && isGitDirectory(directory, name);
}
