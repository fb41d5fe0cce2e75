import * as shared from "@agent/internal";

/** A lock against other processes. */
export type HeldLock = shared.HeldLock;

/**
 * Acquires a lock against other processes if it is free or its holder has exited; otherwise returns `undefined`. The
 * lock is a symlink at `path`, in a directory that only this user can write.
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
export const tryAcquireLock = shared.tryAcquireLock;

/**
 * The process that holds a lock, for a message.
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
export const lockHolder = shared.lockHolder;

/**
 * The user's lock directory, which no other user can write.
 *
 * @example
 * ```ts
 * import { lockDirectory } from "@agent/core/toolkit";
 *
 * console.log(typeof lockDirectory()); // string
 * ```
 */
export const lockDirectory = shared.lockDirectory;

/**
 * The file in `lockDirectory` that locks a canonical path.
 *
 * @example
 * ```ts
 * import { dirname } from "node:path";
 * import { lockDirectory, lockFile } from "@agent/core/toolkit";
 *
 * console.log(dirname(lockFile("/srv/app")) === lockDirectory()); // true
 * ```
 */
export const lockFile = shared.lockFile;

/**
 * Creates `lockDirectory`. Returns `false` if that fails or if another user can write to it: then work without locks.
 *
 * @example
 * ```ts
 * import { lockFile, prepareLockDirectory, tryAcquireLock } from "@agent/core/toolkit";
 *
 * const lock = prepareLockDirectory() ? tryAcquireLock(lockFile(process.cwd())) : undefined;
 * lock?.release();
 * console.log("done"); // done
 * ```
 */
export const prepareLockDirectory = shared.prepareLockDirectory;

/**
 * Identifies this process among all that may share a file system with it, for files that should not outlive their
 * process.
 *
 * @example
 * ```ts
 * import { hasEnded, processTag } from "@agent/core/toolkit";
 *
 * console.log(hasEnded(processTag())); // false
 * ```
 */
export const processTag = shared.processTag;

/**
 * Whether the process with this tag has exited; `undefined` if that cannot be determined from here.
 *
 * @example
 * ```ts
 * import { hasEnded } from "@agent/core/toolkit";
 *
 * console.log(hasEnded("elsewhere-1")); // undefined
 * ```
 */
export const hasEnded = shared.hasEnded;
