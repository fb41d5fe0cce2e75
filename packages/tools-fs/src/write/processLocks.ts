import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { foldPath, type HeldLock, lockHolder, tryAcquireLock } from "@agent/internal";
import { errorCode } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";

const LONGEST_WAIT_MS = 15_000;
const LONGEST_PAUSE_MS = 20;

/**
 * Runs `work` while no other process of this user that uses these locks holds any of `paths`, which are canonical.
 * Rejects if they stay locked too long. A lock is a symbolic link in a private directory, never in the project; the lock of
 * a process that was killed is taken over.
 */
export async function withProcessLocks<T>(
  paths: readonly string[],
  work: () => Promise<T>,
  call?: { readonly signal?: AbortSignal },
): Promise<T> {
  if (!prepareDirectory(lockDirectory())) return await work();
  const held: HeldLock[] = [];
  try {
    // Every process locks in the same order, so that two processes never wait for each other.
    for (const [lock, path] of sortedLocks(paths)) held.push(await acquire(lock, path, call));
    return await work();
  } finally {
    for (const lock of held.toReversed()) lock.release();
  }
}

function sortedLocks(paths: readonly string[]): [lock: string, path: string][] {
  const byLock = new Map(paths.map((path) => [lockFile(path), path]));
  return [...byLock].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function acquire(
  lock: string,
  path: string,
  call: { readonly signal?: AbortSignal } | undefined,
): Promise<HeldLock> {
  const started = performance.now();
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const held = tryAcquireLock(lock);
    if (held) return held;
    if (performance.now() - started > LONGEST_WAIT_MS) {
      throw new Error(
        `${showPath(path)} is being changed by another process (${lockHolder(lock)}) for more than ${LONGEST_WAIT_MS / 1000} s; ` +
          "nothing was changed. Try again later.",
      );
    }
    await sleep(pause * Math.random());
    call?.signal?.throwIfAborted();
  }
}

/** The file that locks a canonical path. */
export function lockFile(path: string): string {
  return join(lockDirectory(), createHash("sha256").update(foldPath(path)).digest("hex").slice(0, 32));
}

/** Where locks are kept: the same place for all processes of a user, whatever TMPDIR says. */
export function lockDirectory(): string {
  const user = process.geteuid?.();
  return user === undefined ? join(tmpdir(), "agent-locks") : `/tmp/.agent-locks-${user}`;
}

/** Makes the lock directory. Returns false if that fails. Throws if another user owns it or can write to it. */
function prepareDirectory(directory: string): boolean {
  // Look first: it is there nearly always, and an error of mkdir takes longer than the look.
  const info = lookAt(directory) ?? makePrivate(directory);
  if (info === undefined) return false;
  const isPrivate =
    info.isDirectory() && info.uid === (process.geteuid?.() ?? info.uid) && (info.mode & 0o022) === 0;
  if (isPrivate || process.platform === "win32") return true;
  throw new Error(
    `${showPath(directory)}, the directory of locks against other processes, is owned or writable by another user; nothing was changed. ` +
      "Ask the user to remove it.",
  );
}

/** Makes a directory for this user alone; what is there now if another process was faster; `undefined` if neither works. */
function makePrivate(directory: string): Stats | undefined {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") return undefined;
  }
  return lookAt(directory);
}

/** `undefined` if nothing is there or the system does not allow the look. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
