import { showPath } from "../paths/pathText.js";

// Explanations of the operating system's error codes, as text a model can act on.
const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EAGAIN: "it has no data to read now",
  EBUSY: "it is in use (a mount point, perhaps)",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it exists already",
  EFBIG: "it would be larger than allowed",
  EINVAL: "the operation is not possible here",
  EIO: "the device reported a read or write error",
  EISDIR: "it is a directory",
  ELOOP: "it is a loop of symbolic links, or was replaced by a link meanwhile",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name or the path is too long",
  ENOENT: "no such file or directory",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is not a directory",
  ENOTEMPTY: "the directory is not empty",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  ETIMEDOUT: "it gave no data in time",
  ETXTBSY: "the program is running",
  EXDEV: "it is on another device",
};

/** The operating system's error code of a thrown value, if it has one. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Whether the error means that the path does not exist. Includes `file/x`, where `file` is not a directory (ENOTDIR). */
export function isMissing(thrown: unknown): boolean {
  const code = errorCode(thrown);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * The cause as text: `permission denied (EACCES)`. Adds whether the directory refused a new file, and names the
 * temporary file that could not be removed, if any.
 */
export function fsCause(thrown: unknown): string {
  const code = errorCode(thrown);
  if (code === undefined || WORDS[code] === undefined) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  const left = thrown instanceof Error && "leftBehind" in thrown ? thrown.leftBehind : undefined;
  const rest = typeof left === "string" ? `; the temporary ${left} next to it could not be removed` : "";
  return `${WORDS[code]} (${code})${ofTemporary(thrown) ? ", since no file can be added to its directory" : ""}${rest}`;
}

/** Whether the system refused the temporary file that replaces the target, and not the target itself. */
function ofTemporary(thrown: unknown): boolean {
  const { code = "", syscall, path } = thrown as NodeJS.ErrnoException;
  if (!["EACCES", "EPERM", "ENOENT"].includes(code)) return false;
  return syscall === "open" && typeof path === "string" && /[\\/]\.agent-[^\\/]*\.tmp$/.test(path);
}

/**
 * Rewords an error of the operating system: `Cannot write a/b: permission denied (EACCES).` It names the path that the
 * caller passed, never an internal one. Any other error is returned unchanged.
 */
export function fsError(thrown: unknown, verb: string, path: string): Error {
  if (errorCode(thrown) === undefined && thrown instanceof Error) return thrown;
  return new Error(`Cannot ${verb} ${showPath(path)}: ${fsCause(thrown)}.`, { cause: thrown });
}
