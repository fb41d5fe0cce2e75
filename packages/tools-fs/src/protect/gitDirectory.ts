import { lstatSync } from "node:fs";
import { join, sep } from "node:path";
import { foldPath } from "@agent/core/toolkit";

/** The entries by which git recognises a git directory: HEAD with objects, or HEAD with commondir. */
const PARTS = ["HEAD", "objects", "commondir"];

/**
 * Whether git would use a directory as a git directory, whatever its name: the target of a `.git` link, the directory
 * that a `.git` file names, or a bare repository. That of a worktree has `commondir` instead of objects. `added` is the
 * name of an entry that the call is about to create.
 */
function isGitDirectory(directory: string, added?: string): boolean {
  // Use `lstat`: git also accepts a HEAD that is a dangling symbolic link to "refs/heads/main".
  const has = (name: string): boolean => {
    return name === added || lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  };
  try {
    return has("HEAD") && (has("objects") || has("commondir"));
  } catch {
    // A parent is a file (ENOTDIR) or may not be entered (EACCES): git cannot use the directory either.
    return false;
  }
}

/**
 * For a path inside a git directory that is not named ".git": `inside` is the rest of the path below it, folded
 * ("hooks/x"). `completes` means that creating the path would turn the directory into a git directory; checking it keeps
 * a repository from being assembled file by file. `undefined` for a path outside of git directories.
 */
export function inGitDirectory(
  path: string,
): { readonly inside: string; readonly completes: boolean } | undefined {
  const parts = path.split(sep);
  for (let count = parts.length - 1; count > 0; count--) {
    const directory = parts.slice(0, count).join(sep) || sep;
    const name = parts[count] ?? "";
    const inside = foldPath(parts.slice(count).join("/"));
    if (isGitDirectory(directory)) return { inside, completes: false };
    const added = PARTS.find((part) => part === name || (ignoresCase() && foldPath(part) === foldPath(name)));
    if (added !== undefined && isGitDirectory(directory, added)) return { inside, completes: true };
  }
  return undefined;
}

function ignoresCase(): boolean {
  return process.platform !== "linux";
}
