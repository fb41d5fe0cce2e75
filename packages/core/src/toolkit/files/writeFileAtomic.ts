import type { Stats } from "node:fs";
import { canonicalPath, removeAbandoned, temporaryName, toUtf8 } from "@agent/internal";
import { checkOptions, type OptionChecks } from "../hostOptions/checkOptions.js";
import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkText,
  invalidArgument,
} from "../hostOptions/checks.js";
import { nodeFs, nodePath } from "./nodeModules.js";

interface WriteOptions {
  readonly mode?: number;
  readonly follow?: boolean;
  readonly beforeRename?: () => void;
}

const OPTIONS: OptionChecks<WriteOptions> = {
  mode: checkNumber,
  follow: checkBoolean,
  beforeRename: checkFunction,
};
const SET_ID_BITS = 0o6000;
// Writing this much synchronously takes a fraction of a millisecond, often less than a round trip to the thread pool.
const SMALL_BYTES = 1024 * 1024;

/**
 * Replaces a file atomically: a crash, a full disk or a concurrent reader finds the old content or the new, never a
 * part. A temporary file in the same directory is written, synced and renamed. An existing file keeps its mode and
 * owner; a read-only one is refused, as with a plain write. A symlink is written through and stays a symlink, unless
 * `follow` is `false`: then the name itself is replaced. No temporary file remains after a failure (if it cannot be
 * removed, the error names it as `leftBehind`), and temporary files of killed writers in the directory are removed.
 * `beforeRename` is called last; if it throws, the old file stays. The directory must exist. `mode` is for new files
 * (default 0666, reduced by the umask).
 *
 * @example
 * ```ts
 * import { writeFileAtomic } from "@agent/core/toolkit";
 *
 * const { created } = await writeFileAtomic("notes.md", "# Notes\n");
 * console.log(created ? "new file" : "replaced"); // new file
 * ```
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: WriteOptions = {},
): Promise<{ created: boolean }> {
  checkText("path", path);
  if (typeof data !== "string" && !(data instanceof Uint8Array)) {
    throw invalidArgument("data", "a string or a Uint8Array", data);
  }
  checkOptions("writeFileAtomic", options, OPTIONS);
  const target = options.follow === false ? nodePath.resolve(path) : canonicalPath(path);
  const existing = nodeFs.lstatSync(target, { throwIfNoEntry: false });
  if (existing?.isSymbolicLink() === false) checkReplaceable(path, target, existing);
  const keep = existing?.isFile() ? existing : undefined;
  const temporary = nodePath.join(nodePath.dirname(target), temporaryName());
  removeAbandoned(nodePath.dirname(target));
  const fd = nodeFs.openSync(temporary, "wx", keep ? 0o600 : (options.mode ?? 0o666));
  const release = removeAtExit(temporary);
  try {
    try {
      // Only write and fsync are asynchronous: the steps around them change single directory entries.
      await writeAll(fd, typeof data === "string" ? toUtf8(data) : data);
      if (keep) keepOwnerAndMode(fd, keep);
      await flush(fd);
    } finally {
      nodeFs.closeSync(fd);
    }
    options.beforeRename?.();
    nodeFs.renameSync(temporary, target);
  } catch (error) {
    throw removeQuietly(temporary) ? error : withLeftBehind(error, nodePath.basename(temporary));
  } finally {
    release();
  }
  return { created: existing === undefined };
}

async function writeAll(fd: number, data: Uint8Array): Promise<void> {
  for (let done = 0; done < data.length; ) {
    done += data.length <= SMALL_BYTES ? nodeFs.writeSync(fd, data, done) : await writeSome(fd, data, done);
  }
}

function writeSome(fd: number, data: Uint8Array, from: number): Promise<number> {
  return new Promise((done, reject) => {
    nodeFs.write(fd, data, from, data.length - from, null, (error, count) => {
      if (error) reject(error);
      else done(count);
    });
  });
}

function flush(fd: number): Promise<void> {
  return new Promise((done, reject) => {
    nodeFs.fsync(fd, (error) => (error ? reject(error) : done()));
  });
}

function checkReplaceable(path: string, target: string, existing: Stats): void {
  if (!existing.isFile()) {
    throw new Error(`${path} is ${existing.isDirectory() ? "a directory" : "not a regular file"}.`);
  }
  // A rename needs no permission on the file itself: without this check, read-only files would be replaced.
  nodeFs.accessSync(target, nodeFs.constants.W_OK);
}

function keepOwnerAndMode(fd: number, like: Stats): void {
  const mode = like.mode & 0o7777;
  const { uid, gid } = nodeFs.fstatSync(fd);
  const kept = (uid === like.uid && gid === like.gid) || tryChown(fd, like.uid, like.gid);
  // Only root may give a file away; everyone else may still keep a group they belong to.
  if (!kept) tryChown(fd, uid, like.gid);
  nodeFs.fchmodSync(fd, kept ? mode : mode & ~SET_ID_BITS);
}

function tryChown(fd: number, uid: number, gid: number): boolean {
  try {
    nodeFs.fchownSync(fd, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** Removes a file on a normal exit of the process, until released. */
function removeAtExit(path: string): () => void {
  const remove = (): void => void removeQuietly(path);
  allowListeners(1);
  process.once("exit", remove);
  return () => {
    process.off("exit", remove);
    allowListeners(-1);
  };
}

/**
 * Raises the listener limit by one for each write: Node prints a warning at the eleventh listener. 0 means no limit.
 */
function allowListeners(more: number): void {
  const limit = process.getMaxListeners();
  if (limit > 0) process.setMaxListeners(limit + more);
}

/** Whether the path no longer exists. */
function removeQuietly(path: string): boolean {
  try {
    nodeFs.unlinkSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function withLeftBehind(error: unknown, leftBehind: string): unknown {
  if (!(error instanceof Error)) return error;
  error.message += `; ${leftBehind} could not be removed`;
  return Object.assign(error, { leftBehind });
}
