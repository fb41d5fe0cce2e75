import type { Stats } from "node:fs";
import { link, lstat, rename, unlink } from "node:fs/promises";
import { errorCode, fsCause } from "../errors/fsError.js";

// Error codes of `link` on file systems that have no hard links or do not allow this one.
const NO_LINKS = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

/**
 * Renames an entry on the same device. Without `replace` an existing target is never replaced (`EEXIST`), even if
 * another program creates it at the same moment.
 */
export async function renameEntry(from: string, to: string, info: Stats, replace: boolean): Promise<void> {
  if (replace) return await rename(from, to);
  if (info.isFile() && (await linkAnew(from, to))) return await unlinkOr(from, to);
  // For a directory, `rename` itself refuses to replace a file or a directory that is not empty.
  const existing = await lstat(to).catch(() => undefined);
  if (existing) throw Object.assign(new Error(`${to} exists`), { code: "EEXIST" });
  await rename(from, to);
}

/** `link` fails atomically if the name is taken; `rename` would need a check first. */
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
      // The directory is append-only: names can be added, but not removed.
      throw new Error(`The new name was created, but the old one could not be removed: ${fsCause(error)}.`);
    });
    throw error;
  }
}
