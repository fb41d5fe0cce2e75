import type { Stats } from "node:fs";
import { link, lstat, rename, unlink } from "node:fs/promises";
import { errorCode, fsCause } from "../errors/fsError.js";

// What a file system says that knows no hard links, or does not allow this one.
const NO_LINKS = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

/**
 * Gives an entry a new name on the same device. Without `replace`, what stands there already is never
 * replaced (`EEXIST`), also if it appeared only this moment.
 */
export async function renameEntry(from: string, to: string, info: Stats, replace: boolean): Promise<void> {
  if (replace) return await rename(from, to);
  if (info.isFile() && (await linkAnew(from, to))) return await unlinkOr(from, to);
  // A directory is never renamed over a file or a full directory by the system itself.
  const existing = await lstat(to).catch(() => undefined);
  if (existing) throw Object.assign(new Error(`${to} exists`), { code: "EEXIST" });
  await rename(from, to);
}

/** `link` fails if the name is taken, in one step: `rename` alone would have to look first. */
async function linkAnew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (NO_LINKS.has(errorCode(error) ?? "")) return false;
    throw error;
  }
}

async function unlinkOr(from: string, to: string): Promise<void> {
  try {
    await unlink(from);
  } catch (error) {
    await unlink(to).catch(() => {
      // In a directory where names can only be added.
      throw new Error(`The new name was given, but the old one could not be removed: ${fsCause(error)}.`);
    });
    throw error;
  }
}
