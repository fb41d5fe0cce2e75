import { randomBytes } from "node:crypto";
import { chmod, chown, lstat, open, readlink, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const MAX_LINKS = 40;

/**
 * Replaces a file so that a crash, a full disk or a reader at any moment meets the old content or the new,
 * never a part: a temporary file in the same directory is written, flushed and renamed. An existing file
 * keeps its mode and owner; a symlink is written through and stays a link. Nothing is left behind on failure.
 * The directory must exist. `mode` is for new files (default 0666, reduced by the umask).
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { readonly mode?: number } = {},
): Promise<{ created: boolean }> {
  const target = await followLinks(path);
  const existing = await stat(target).catch(ignoreMissing);
  if (existing && !existing.isFile()) {
    throw new Error(`${path} is ${existing.isDirectory() ? "a directory" : "not a regular file"}.`);
  }
  // A short name of its own: a suffix would push a 250-byte file name over the limit of 255.
  const temporary = join(dirname(target), `.${randomBytes(9).toString("base64url")}.tmp`);
  const file = await open(temporary, "wx", existing ? 0o600 : (options.mode ?? 0o666));
  try {
    try {
      await file.writeFile(data);
      if (existing) await keepOwnerAndMode(temporary, existing);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  return { created: existing === undefined };
}

async function keepOwnerAndMode(
  path: string,
  like: { uid: number; gid: number; mode: number },
): Promise<void> {
  // Only root may give a file away; for everyone else the owner is already right or cannot be kept.
  await chown(path, like.uid, like.gid).catch(() => undefined);
  await chmod(path, like.mode & 0o7777);
}

/** Where a path leads, also when the last link dangles: then the file is created at its target. */
async function followLinks(path: string): Promise<string> {
  let current = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links++) {
    const info = await lstat(current).catch(ignoreMissing);
    if (!info?.isSymbolicLink()) return current;
    current = resolve(dirname(current), await readlink(current));
  }
  throw new Error(`${path} is a loop of symbolic links.`);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
