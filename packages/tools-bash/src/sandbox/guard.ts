import { lstatSync, type Stats } from "node:fs";
import { dirname, join, relative } from "node:path";
import { canonicalPath, isInside } from "@agent/core/toolkit";
import { type Found, identify, removeEmpty, renameRefused } from "./inspect.js";
import { type ProtectedFile, protectedFiles } from "./protectedFiles.js";

/** Keeps protected files as they are while one command runs. */
export interface Guard {
  /** Arguments of bubblewrap, to come after the binds of the writable directories. */
  readonly mounts: readonly string[];
  /** Takes away mount points, and gives what the command made under protected names another name. Returns the names. */
  finish(): string[];
}

interface Watched {
  readonly root: string;
  readonly path: string;
  /** Whether the command put something else there. */
  isReplaced(): boolean;
}

/**
 * Protects files of writable directories. One object serves all commands of a registration: commands that run at the
 * same time share mount points, and the last one removes them.
 */
export class FileGuard {
  /** How many running commands use a mount point that did not exist before. */
  readonly #users = new Map<string, number>();

  /** Protects the well-known names in each root, and the absolute paths of `also` that are in one. */
  protect(roots: readonly string[], also: readonly string[]): Guard {
    const mounts: string[] = [];
    const placed: string[] = [];
    const watched: Watched[] = [];
    const cover = (root: string, { path, ifMissing }: ProtectedFile): void => {
      const before = this.#users.has(path) ? undefined : identify(root, path);
      if (before !== undefined) {
        if (!before.isLink) mounts.push("--ro-bind", path, path);
        watched.push({ root, path, isReplaced: replacementOf(root, path, before) });
      } else if (ifMissing === "rename" || !isRealDirectory(root, dirname(path))) {
        watched.push({ root, path, isReplaced: () => true });
      } else {
        placed.push(path);
        if (ifMissing === "file") mounts.push("--ro-bind", "/dev/null", path);
        else mounts.push("--tmpfs", path, "--remount-ro", path);
      }
    };
    for (const root of roots) {
      const git = gitDirectory(root);
      if (git.pinned !== undefined) mounts.push("--bind", git.pinned, git.pinned);
      if (git.link !== undefined) cover(root, { path: git.link, ifMissing: "rename" });
      for (const { path, ifMissing } of protectedFiles(git.name))
        cover(root, { path: join(root, path), ifMissing });
      for (const path of also) {
        if (isInside(root, path) && path !== root) cover(root, { path, ifMissing: "rename" });
      }
    }
    for (const path of placed) this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    return {
      mounts,
      finish: () => {
        for (const path of placed) this.#leave(path);
        return watched
          .filter(({ root, path, isReplaced }) => isReplaced() && renameRefused(root, path))
          .map(({ root, path }) => relative(root, path));
      },
    };
  }

  #leave(path: string): void {
    const users = (this.#users.get(path) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(path, users);
      return;
    }
    this.#users.delete(path);
    removeEmpty(path);
  }
}

/**
 * Tells whether a protected file that was there before was replaced. A mount holds the file itself, but not the
 * directory it is in, which may be renamed, and no link. A person may replace the file in the same directory.
 */
function replacementOf(root: string, path: string, before: Found): () => boolean {
  if (before.isLink) return () => identify(root, path)?.identity !== before.identity;
  const parent = dirname(path);
  if (parent === root) return () => false;
  const place = identify(root, parent)?.identity;
  return () => identify(root, parent)?.identity !== place;
}

/** How git's directory of a workspace is protected. */
interface GitDirectory {
  /** Its name below the root, if git's files are in the root. */
  readonly name?: string;
  /** A directory that holds protected files: bound to itself, because a mount point cannot be renamed away. */
  readonly pinned?: string;
  /** A file or link that says where the directory is. */
  readonly link?: string;
}

function gitDirectory(root: string): GitDirectory {
  const path = join(root, ".git");
  const found = look(path);
  if (found === undefined) return {};
  // No command in a sandbox can have put a link here: the name is taken while one runs.
  if (found.isDirectory()) return { name: ".git", pinned: path };
  const target = canonicalPath(path);
  return found.isSymbolicLink() && isInside(root, target) && isRealDirectory(root, target)
    ? { name: relative(root, target), pinned: target, link: path }
    : { name: ".git", link: path };
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Whether the path is a directory below the root, and no link is on the way. */
function isRealDirectory(root: string, path: string): boolean {
  if (path === root) return true;
  return identify(root, path)?.isDirectory ?? false;
}
