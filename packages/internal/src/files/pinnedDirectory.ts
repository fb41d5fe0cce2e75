import { nodeFs } from "./nodeModules.js";
import { namesOpenFiles } from "./openedPath.js";

// Linux only, and not among Node's constants: opens a directory just to name it, without the right to list it.
const O_PATH = 0o10000000;

/** A directory kept open, so that what is done below `path` cannot be redirected by swapping a parent. */
interface PinnedDirectory {
  /** A path that always means this very directory. On systems without /proc, the plain path. */
  readonly path: string;
  /** Its descriptor; `undefined` on systems without /proc. */
  readonly fd: number | undefined;
  /** The canonical path under which it is found now. On systems without /proc, the plain path. */
  realPath(): string;
  /** As `mountOf`. */
  mount(): string | undefined;
  close(): void;
}

/**
 * Opens a directory; a link in the last place is refused (`ENOTDIR`). With `expected`, the directory must
 * be found under exactly that canonical path, or the call throws.
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
 * The id of the mount that a descriptor lies on. It differs between two mounts of one file system (`mount --bind`),
 * which share a device number. `undefined` on systems without /proc.
 */
export function mountOf(fd: number): string | undefined {
  if (!namesOpenFiles()) return undefined;
  return /^mnt_id:\s*(\d+)$/m.exec(nodeFs.readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
}

/** As `mountOf`, of a directory by its path, which may be that of a pinned one. */
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
