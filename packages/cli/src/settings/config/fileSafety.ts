import { lstatSync, type Stats, statSync } from "node:fs";
import { CliError } from "../../process/errors.js";

const MAX_CONFIG_BYTES = 1024 * 1024;
const WORLD_WRITABLE = 0o002;

/**
 * Refuses a config file that would block the program (a FIFO, a device), is a symlink, or is writable by other users.
 * Checks the file without opening it.
 */
export function checkFileSafety(path: string, options: { readonly anyOwner?: boolean } = {}): void {
  const info = lstatSync(path);
  if (info.isSymbolicLink()) {
    refuse(path, "is a symbolic link", "Put a regular file there, or name the target with --config.");
  }
  checkReadable(path, info);
  if (process.platform !== "win32") checkOwner(path, info, options.anyOwner ?? false);
}

/** Refuses everything but a regular file of limited size: reading anything else may never finish. */
export function checkReadable(path: string, info: Stats = statSync(path)): void {
  if (!info.isFile()) refuse(path, `is ${kindOf(info)}`, "Put a regular file there, or use --no-config.");
  if (info.size > MAX_CONFIG_BYTES) {
    refuse(path, `holds ${info.size} bytes`, `A config may have at most ${MAX_CONFIG_BYTES}.`);
  }
}

function checkOwner(path: string, info: Stats, anyOwner: boolean): void {
  if ((info.mode & WORLD_WRITABLE) !== 0) {
    refuse(path, "is writable by every user", `Run: chmod o-w ${path}`);
  }
  const me = process.getuid?.();
  if (!anyOwner && me !== undefined && info.uid !== me && info.uid !== 0) {
    refuse(
      path,
      `belongs to another user (uid ${info.uid})`,
      "If you know the file, name it with --config, or make it yours with chown.",
    );
  }
}

function refuse(path: string, problem: string, hint: string): never {
  throw new CliError(`${path}: refused, because it ${problem}. ${hint}`);
}

function kindOf(info: Stats): string {
  if (info.isDirectory()) return "a directory";
  if (info.isFIFO()) return "a FIFO";
  if (info.isSocket()) return "a socket";
  return "a device";
}
