import { setTimeout as sleep } from "node:timers/promises";
import {
  type HeldLock,
  lockFile,
  lockHolder,
  prepareLockDirectory,
  tryAcquireLock,
} from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";

const LONGEST_WAIT_MS = 15_000;
const LONGEST_PAUSE_MS = 20;

/**
 * Runs `work` while no other process of this user that uses these locks holds any of `paths`, which are canonical.
 * Rejects if they stay locked too long. A lock is a symlink in a private directory, never in the project; the lock of a
 * killed process is taken over.
 */
export async function withProcessLocks<T>(
  paths: readonly string[],
  work: () => Promise<T>,
  call?: { readonly signal?: AbortSignal },
): Promise<T> {
  if (!prepareLockDirectory()) return await work();
  const held: HeldLock[] = [];
  try {
    // Every process locks in the same order, so that two processes never deadlock.
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
