import { lstatSync } from "node:fs";
import { join, sep } from "node:path";
import { foldPath } from "@agent/internal";

/** Entries that make git take a directory for a repository's own: HEAD with objects, or HEAD with commondir. */
const PARTS = ["HEAD", "objects", "commondir"];

/**
 * Whether git would take a directory for a repository's own, whatever its name: what `.git` links to, what a
 * `.git` file names, or a bare repository. A worktree's has `commondir` instead of objects. `added` is an entry
 * that is about to be there, too.
 */
function isGitDirectory(directory: string, added?: string): boolean {
  // Git takes a HEAD that is a link for one even if that leads nowhere: "refs/heads/main" is enough.
  const has = (name: string): boolean => {
    return name === added || lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  };
  try {
    return has("HEAD") && (has("objects") || has("commondir"));
  } catch {
    // A file in place of a parent, or a directory that may not be entered: git cannot use it either.
    return false;
  }
}

/**
 * Where a path enters a git directory of another name than ".git": what follows it, folded ("hooks/x"; "" for the
 * directory itself). `completes` if the path itself would make it one, so that a repository cannot be put together file
 * by file. `undefined` outside of git directories.
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
