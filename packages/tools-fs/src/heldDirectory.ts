import { closeSync, constants, existsSync, lstatSync, openSync, readFileSync, readlinkSync } from "node:fs";

// Linux only, and not among Node's constants: opens a directory just to name it, without the right to list it.
const O_PATH = 0o10000000;

/** A directory kept open, so that what is done below `path` cannot be redirected by swapping a parent. */
export interface HeldDirectory {
  /** A path that always means this very directory. On systems without /proc, the plain path. */
  readonly path: string;
  /** As `mountOf`. */
  mount(): string | undefined;
  close(): void;
}

/**
 * Opens a directory; a link in the last place is refused (`ENOTDIR`). With `expected`, the directory must
 * be found under exactly that canonical path, or the call throws.
 */
export function holdDirectory(path: string, expected?: string): HeldDirectory {
  if (!canHold()) return plainDirectory(path);
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const held = { path: `/proc/self/fd/${fd}`, mount: () => mountOf(fd), close: () => closeSync(fd) };
  try {
    if (expected === undefined || readlinkSync(held.path) === expected) return held;
  } catch (error) {
    held.close();
    throw error;
  }
  held.close();
  throw new Error(`${expected} was replaced by something else while it was in use; nothing was done.`);
}

/**
 * Tells apart what is mounted where, also what looks like one file system because it is mounted twice (`mount
 * --bind`). `undefined` on systems that do not tell.
 */
export function mountOf(fd: number): string | undefined {
  if (!canHold()) return undefined;
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
}

/** As `mountOf`, of a directory by its path, which may be that of a held one. */
export function mountOfDirectory(path: string): string | undefined {
  // With the dot the name of a held directory means the directory, and not a link to it.
  const held = holdDirectory(`${path}/.`);
  try {
    return held.mount();
  } finally {
    held.close();
  }
}

let procIsThere: boolean | undefined;

/** Whether an open directory can be named: on Linux, with /proc mounted. */
function canHold(): boolean {
  procIsThere ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return procIsThere;
}

function plainDirectory(path: string): HeldDirectory {
  if (lstatSync(path).isDirectory()) return { path, mount: () => undefined, close: () => undefined };
  throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
}
