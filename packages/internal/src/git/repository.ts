import type { Stats } from "node:fs";
import { nodeFs, nodePath } from "../files/nodeModules.js";
import { readRegularFile } from "../files/readRegularFile.js";

const MAX_LINE_BYTES = 64 * 1024;

/** A worktree, and the git directories it takes configuration from. */
export interface GitRepository {
  readonly worktree: string;
  readonly gitDirectories: readonly string[];
}

/**
 * A directory and its parents, up to the first that another user owns or that everyone can write: anything there and
 * above may have been put there by anyone. Every upward search for the user's own files uses this.
 */
export function* ownAncestors(start: string): Generator<string, void> {
  const { dirname } = nodePath;
  for (let directory = start; ; directory = dirname(directory)) {
    if (directory !== start && !isOwn(directory)) return;
    yield directory;
    if (directory === dirname(directory)) return;
  }
}

/**
 * The nearest directory with `.git`, from `start` upwards. `.git` of another user counts as missing, as in git itself
 * (`safe.directory`): anyone who can write to a parent directory could make their repository the user's project.
 */
export function findWorktree(start: string): string | undefined {
  for (const directory of ownAncestors(start)) {
    const found = lookAt(nodePath.join(directory, ".git"));
    if (found !== undefined) return isOurs(found.uid) ? directory : undefined;
  }
  return undefined;
}

/**
 * The git repository of a path: that of the nearest worktree above it, unless another user owns it.
 *
 * @example
 * ```ts
 * import { findRepository } from "@agent/core/toolkit";
 *
 * console.log(findRepository("/no/such/place")); // undefined
 * ```
 */
export function findRepository(path: string): GitRepository | undefined {
  const worktree = findWorktree(nodePath.dirname(path));
  return worktree === undefined ? undefined : repositoryAt(worktree);
}

/**
 * All repositories that contain a path, nearest first: git may be started in any of them. Here one of another user
 * counts as well, because the user may have configured git to trust it, unless it is in a directory that everyone can
 * write.
 */
export function repositoriesAbove(path: string, most: number): GitRepository[] {
  const { dirname, join } = nodePath;
  const found: GitRepository[] = [];
  for (let directory = dirname(path); found.length < most; directory = dirname(directory)) {
    const dotGit = lookAt(join(directory, ".git"));
    if (dotGit !== undefined && (isOurs(dotGit.uid) || !isOpenToEveryone(lookAt(directory)))) {
      const repository = repositoryAt(directory);
      if (repository !== undefined) found.push(repository);
    }
    if (directory === dirname(directory)) break;
  }
  return found;
}

function repositoryAt(worktree: string): GitRepository | undefined {
  const gitDirectory = resolveGitDirectory(worktree);
  if (gitDirectory === undefined) return undefined;
  const common = readLine(nodePath.join(gitDirectory, "commondir"));
  const shared = common === undefined ? [] : [nodePath.resolve(gitDirectory, common)];
  return { worktree, gitDirectories: [gitDirectory, ...shared] };
}

const WRITABLE_BY_EVERYONE = 0o002;

function isOwn(directory: string): boolean {
  const info = lookAt(directory);
  if (info === undefined) return true;
  if (!isOurs(info.uid)) return false;
  // The mode of a symlink is meaningless: check that of its target directory.
  const target = info.isSymbolicLink() ? lookThrough(directory) : info;
  return target === undefined || (isOurs(target.uid) && !isOpenToEveryone(target));
}

function isOpenToEveryone(info: Stats | undefined): boolean {
  return process.platform !== "win32" && info !== undefined && (info.mode & WRITABLE_BY_EVERYONE) !== 0;
}

/** Whether an owner is this user or root; with sudo also the user who called it, as in git. */
function isOurs(uid: number): boolean {
  const own = process.geteuid?.();
  if (own === undefined || uid === own || uid === 0) return true;
  return own === 0 && process.env.SUDO_UID === String(uid);
}

function lookThrough(path: string): Stats | undefined {
  try {
    return nodeFs.statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return nodeFs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** `.git` of a worktree: the directory, or the one that a file of this name points to. */
function resolveGitDirectory(worktree: string): string | undefined {
  const path = nodePath.join(worktree, ".git");
  try {
    const info = nodeFs.statSync(path, { throwIfNoEntry: false });
    if (info === undefined) return undefined;
    if (info.isDirectory()) return path;
    const target = /^gitdir: (.+)$/.exec(readLine(path) ?? "")?.[1];
    return target === undefined ? undefined : nodePath.resolve(worktree, target);
  } catch {
    return undefined;
  }
}

/** Never blocks: there may be a FIFO in place of the file. */
function readLine(path: string): string | undefined {
  const bytes = readRegularFile(path, MAX_LINE_BYTES + 1);
  if (bytes === undefined || bytes.length > MAX_LINE_BYTES) return undefined;
  return bytes.toString("utf8").trimEnd();
}
