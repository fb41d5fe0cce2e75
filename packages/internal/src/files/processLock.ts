import { lazyConstant } from "../lazyConstant.js";
import { nodeCrypto, nodeFs } from "./nodeModules.js";
import { hasEnded, processTag } from "./processTag.js";

// A holder from an earlier boot or another container cannot be checked: its lock counts as abandoned at this age. No
// holder takes this long.
const ABANDONED_AFTER_MS = 60_000;

// Replaces a start time that could not be looked up.
const UNKNOWN = "-";

/** The holder of a lock, stored as `1k2j3h-4242 918273 <uuid>`: the process, its start time, and the id of this lock. */
interface Holder {
  readonly tag: string;
  readonly started: string;
  readonly id: string;
}

/** A lock against other processes. */
export interface HeldLock {
  release(): void;
}

/**
 * Acquires a lock against other processes if it is free or its holder has exited; otherwise returns `undefined`. The
 * lock is a symlink at `path`, in a directory that only this user can write; on Windows, where not every user may
 * create symlinks, a file.
 *
 * @example
 * ```ts
 * import { tryAcquireLock } from "@agent/core/toolkit";
 *
 * const lock = tryAcquireLock("index.lock");
 * console.log(lock !== undefined, tryAcquireLock("index.lock")); // true undefined
 * lock?.release();
 * ```
 */
export function tryAcquireLock(path: string): HeldLock | undefined {
  const id = nodeCrypto.randomUUID();
  const holder = `${ownProcess()} ${id}`;
  return tryCreate(path, holder) || tryTakeOver(path, holder) ? heldLock(path, id) : undefined;
}

/**
 * The tag of the process that holds a lock, for a message.
 *
 * @example
 * ```ts
 * import { lockHolder, processTag, tryAcquireLock } from "@agent/core/toolkit";
 *
 * const lock = tryAcquireLock("index.lock");
 * console.log(lockHolder("index.lock") === processTag()); // true
 * lock?.release();
 * ```
 */
export function lockHolder(path: string): string {
  return readHolder(path)?.tag ?? "unknown";
}

/** Creates the lock as a link whose target names the holder. That is atomic: no process can read a lock without a holder. */
function create(lock: string, holder: string): void {
  if (process.platform === "win32") nodeFs.writeFileSync(lock, holder, { flag: "wx" });
  else nodeFs.symlinkSync(holder, lock);
}

function tryCreate(lock: string, holder: string): boolean {
  try {
    create(lock, holder);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Replaces the lock of a dead holder. A process must first acquire a second lock, which guards this takeover; otherwise
 * two processes that both saw the dead holder would replace each other's lock.
 */
function tryTakeOver(lock: string, holder: string): boolean {
  const dead = readHolder(lock);
  if (dead === undefined || !isAbandoned(lock, dead)) return false;
  const right = tryAcquireLock(`${lock}.${dead.id.slice(0, 8)}`);
  if (right === undefined) return false;
  try {
    if (readHolder(lock)?.id !== dead.id) return false;
    const own = `${lock}.${nodeCrypto.randomUUID()}`;
    create(own, holder);
    nodeFs.renameSync(own, lock);
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
    const holder =
      process.platform === "win32" ? nodeFs.readFileSync(lock, "utf8") : nodeFs.readlinkSync(lock);
    const [tag = "", started = "", id = ""] = holder.split(" ");
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
    const info = nodeFs.lstatSync(lock, { throwIfNoEntry: false });
    return info !== undefined && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS;
  }
  if (ended || started === UNKNOWN) return ended;
  // Another process may have the same id by now. Without both start times that is unknown: the holder counts as alive.
  const startedNow = startTime(Number(tag.slice(tag.indexOf("-") + 1)));
  return startedNow !== UNKNOWN && startedNow !== started;
}

/** The prefix of this process in the holder of its locks. */
const ownProcess = /* @__PURE__ */ lazyConstant(() => `${processTag()} ${startTime(process.pid)}`);

/** When a process started, in clock ticks since boot; `UNKNOWN` without /proc or without a free file descriptor. */
function startTime(pid: number): string {
  try {
    const stat = nodeFs.readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before the last parenthesis may contain anything. The start time is field 22, 20 after the name.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

function unlinkQuietly(path: string): void {
  try {
    nodeFs.unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
