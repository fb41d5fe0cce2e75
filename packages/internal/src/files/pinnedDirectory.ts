import { nodeFs } from "./nodeModules.js";
import { namesOpenFiles } from "./openedPath.js";

// O_PATH: Linux only, and not among Node's constants. Opens a directory without the permission to list it.
const O_PATH = 0o10000000;

/** An open directory, so that operations below `path` cannot be redirected by replacing a parent. */
interface PinnedDirectory {
  /** A path that always means this very directory. On systems without /proc, the plain path. */
  readonly path: string;
  /** Its descriptor; `undefined` on systems without /proc. */
  readonly fd: number | undefined;
  /** Its current canonical path. On systems without /proc, the plain path. */
  realPath(): string;
  /** See `mountOf`. */
  mount(): string | undefined;
  close(): void;
}

/**
 * Opens a directory and keeps it open, so that operations below its `path` cannot be redirected by a replaced parent. A
 * symlink as the last component is refused. With `expected`, the directory must be at exactly that canonical path.
 *
 * @example
 * ```ts
 * import { mkdirSync, renameSync, writeFileSync } from "node:fs";
 * import { pinDirectory } from "@agent/core/toolkit";
 *
 * mkdirSync("notes");
 * const pinned = pinDirectory("notes");
 * try {
 *   if (pinned.fd !== undefined) renameSync("notes", "moved");
 *   writeFileSync(`${pinned.path}/a.txt`, "still in the same directory");
 * } finally {
 *   pinned.close();
 * }
 * console.log("written"); // written
 * ```
 */
export function pinDirectory(path: string, expected?: string): PinnedDirectory {
  if (!namesOpenFiles()) return plainDirectory(path);
  const fd = nodeFs.openSync(path, O_PATH | nodeFs.constants.O_DIRECTORY | nodeFs.constants.O_NOFOLLOW);
  const link = `/proc/self/fd/${fd}`;
  const pinned = {
    path: link,
    fd,
    realPath: () => nodeFs.readlinkSync(link),
    mount: () => mountOf(fd),
    close: () => nodeFs.closeSync(fd),
  };
  try {
    if (expected === undefined || pinned.realPath() === expected) return pinned;
  } catch (error) {
    pinned.close();
    throw error;
  }
  pinned.close();
  throw new Error(`${expected} was replaced by something else while it was in use; nothing was done.`);
}

/**
 * The id of the mount of a descriptor. It differs between two mounts of one file system (`mount --bind`), which share a
 * device number. `undefined` on systems without /proc.
 *
 * @example
 * ```ts
 * import { closeSync, openSync } from "node:fs";
 * import { mountOf, mountOfDirectory } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * console.log(mountOf(descriptor) === mountOfDirectory(".")); // true
 * closeSync(descriptor);
 * ```
 */
export function mountOf(fd: number): string | undefined {
  if (!namesOpenFiles()) return undefined;
  return /^mnt_id:\s*(\d+)$/m.exec(nodeFs.readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
}

/**
 * Like `mountOf`, for a directory by its path, which may be that of a pinned one.
 *
 * @example
 * ```ts
 * import { mountOfDirectory } from "@agent/core/toolkit";
 *
 * console.log(mountOfDirectory(".") === mountOfDirectory(process.cwd())); // true
 * ```
 */
export function mountOfDirectory(path: string): string | undefined {
  // `/proc/self/fd/N` is a link, which O_NOFOLLOW refuses; with `/.` it means the directory.
  const pinned = pinDirectory(`${path}/.`);
  try {
    return pinned.mount();
  } finally {
    pinned.close();
  }
}

function plainDirectory(path: string): PinnedDirectory {
  if (nodeFs.lstatSync(path).isDirectory()) {
    return { path, fd: undefined, realPath: () => path, mount: () => undefined, close: () => undefined };
  }
  throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
}
