import { closeSync, constants, existsSync, lstatSync, openSync, readlinkSync } from "node:fs";

// Linux only, and not among Node's constants: opens a directory just to name it, without the right to list it.
const O_PATH = 0o10000000;

/** A directory kept open, so that what is done below `path` cannot be redirected by swapping a parent. */
export interface HeldDirectory {
  /** A path that always means this very directory. On systems without /proc, the plain path. */
  readonly path: string;
  close(): void;
}

/**
 * Opens a directory; a link in the last place is refused (`ENOTDIR`). With `expected`, the directory must
 * be found under exactly that canonical path, or the call throws.
 */
export function holdDirectory(path: string, expected?: string): HeldDirectory {
  if (!canHold()) return plainDirectory(path);
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const held = { path: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
  try {
    if (expected === undefined || readlinkSync(held.path) === expected) return held;
  } catch (error) {
    held.close();
    throw error;
  }
  held.close();
  throw new Error(`${expected} was replaced by something else while it was in use; nothing was done.`);
}

let procIsThere: boolean | undefined;

/** Whether an open directory can be named: on Linux, with /proc mounted. */
function canHold(): boolean {
  procIsThere ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return procIsThere;
}

function plainDirectory(path: string): HeldDirectory {
  if (lstatSync(path).isDirectory()) return { path, close: () => undefined };
  throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
}
