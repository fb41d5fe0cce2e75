import { statSync } from "node:fs";
import { join } from "node:path";

/**
 * Whether git would take a directory for a repository's own, whatever its name: what `.git` links to, what a
 * `.git` file names, or a bare repository. A worktree's has `commondir` instead of objects.
 */
export function isGitDirectory(directory: string): boolean {
  const has = (name: string): boolean => {
    return statSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  };
  try {
    return has("HEAD") && (has("objects") || has("commondir"));
  } catch {
    // A file on the way, or a directory that may not be entered: git cannot use it either.
    return false;
  }
}
