import { createHash, randomUUID } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { foldPath, hasEnded, lazyConstant, processTag } from "@agent/internal";
import { errorCode, isMissing } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";

const LONGEST_WAIT_MS = 15_000;
const LONGEST_PAUSE_MS = 20;
// A holder from an earlier boot or another container cannot be looked up: its lock counts as abandoned at this age.
// No change takes this long.
const ABANDONED_AFTER_MS = 60_000;

// In place of a start time that could not be looked up.
const UNKNOWN = "-";

/** The holder of a lock, stored as `1k2j3h-4242 918273 <uuid>`: the process, its start time, and the id of this lock. */
interface Holder {
  readonly tag: string;
  readonly started: string;
  readonly id: string;
}

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

interface HeldLock {
  release(): void;
}

async function acquire(
  lock: string,
  path: string,
  call: { readonly signal?: AbortSignal } | undefined,
): Promise<HeldLock> {
  const started = performance.now();
  for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const held = tryAcquire(lock);
    if (held) return held;
    if (performance.now() - started > LONGEST_WAIT_MS) {
      const { tag = "unknown" } = readHolder(lock) ?? {};
      throw new Error(
        `${showPath(path)} is being changed by another process (${tag}) for more than ${LONGEST_WAIT_MS / 1000} s; ` +
          "nothing was changed. Try again later.",
      );
    }
    await sleep(pause * Math.random());
    call?.signal?.throwIfAborted();
  }
}

/** Takes the lock if it is free or its holder has ended; else returns `undefined`. */
function tryAcquire(lock: string): HeldLock | undefined {
  const id = randomUUID();
  const holder = `${ownProcess()} ${id}`;
  return tryCreate(lock, holder) || tryTakeOver(lock, holder) ? heldLock(lock, id) : undefined;
}

/** Creates the lock as a link whose target names the holder. That is atomic: no process can read a lock without a holder. */
function tryCreate(lock: string, holder: string): boolean {
  try {
    symlinkSync(holder, lock);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Replaces the lock of a dead holder. A process must first take a second lock, which guards this takeover; else two
 * processes that both saw the dead holder would replace each other's lock.
 */
function tryTakeOver(lock: string, holder: string): boolean {
  const dead = readHolder(lock);
  if (dead === undefined || !isAbandoned(lock, dead)) return false;
  const right = tryAcquire(`${lock}.${dead.id.slice(0, 8)}`);
  if (right === undefined) return false;
  try {
    if (readHolder(lock)?.id !== dead.id) return false;
    const own = `${lock}.${randomUUID()}`;
    symlinkSync(holder, own);
    renameSync(own, lock);
    return true;
  } finally {
    right.release();
  }
}

function heldLock(lock: string, id: string): HeldLock {
  return {
    release() {
      if (readHolder(lock)?.id === id) unlinkQuietly(lock);
    },
  };
}

function readHolder(lock: string): Holder | undefined {
  try {
    const [tag = "", started = "", id = ""] = readlinkSync(lock).split(" ");
    return { tag, started, id };
  } catch (error) {
    if (isMissing(error)) return undefined;
    // The entry is not a link, so no process will release it: it is taken over once it is old.
    if (errorCode(error) === "EINVAL") return { tag: "", started: "", id: "unknown" };
    throw error;
  }
}

function isAbandoned(lock: string, { tag, started }: Holder): boolean {
  const ended = hasEnded(tag);
  if (ended === undefined) {
    const info = lstatSync(lock, { throwIfNoEntry: false });
    return info !== undefined && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS;
  }
  if (ended || started === UNKNOWN) return ended;
  // Another process may have the same id by now. Without both start times that cannot be told: the holder counts as alive.
  const startedNow = startTime(Number(tag.slice(tag.indexOf("-") + 1)));
  return startedNow !== UNKNOWN && startedNow !== started;
}

/** How this process begins the holder of its locks. */
const ownProcess = lazyConstant(() => `${processTag()} ${startTime(process.pid)}`);

/** When a process started, in clock ticks since boot; `UNKNOWN` without /proc or without a free file descriptor. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before the last parenthesis may hold anything. The start is field 22, 20 after the name.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
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

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
