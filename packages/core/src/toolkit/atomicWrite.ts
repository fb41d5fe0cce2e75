import { randomBytes } from "node:crypto";
import { constants, type Stats, unlinkSync } from "node:fs";
import { access, type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { canonicalPath } from "./confine.js";

const SET_ID_BITS = 0o6000;

// What this process has begun and not yet renamed or removed: an orderly exit takes it along.
const unfinished = new Set<string>();
let cleansUpAtExit = false;

/**
 * Replaces a file so that a crash, a full disk or a reader at any moment meets the old content or the new,
 * never a part: a temporary file in the same directory is written, flushed and renamed. An existing file
 * keeps its mode and owner; one that may not be written is refused, as a plain write would be. A symlink is
 * written through and stays a link, unless `follow` is `false`: then the name itself is replaced, whatever
 * it is. Nothing is left behind on failure. The directory must exist. `mode` is for new files (default
 * 0666, reduced by the umask).
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { readonly mode?: number; readonly follow?: boolean } = {},
): Promise<{ created: boolean }> {
  const target = options.follow === false ? resolve(path) : canonicalPath(path);
  const existing = await lstat(target).catch(ignoreMissing);
  if (existing?.isSymbolicLink() === false) await checkReplaceable(path, target, existing);
  const keep = existing?.isFile() ? existing : undefined;
  // A short name of its own: a suffix would push a 250-byte file name over the limit of 255.
  const temporary = join(
    dirname(target),
    `.agent-${process.pid}-${randomBytes(9).toString("base64url")}.tmp`,
  );
  cleanUpAtExit();
  const file = await open(temporary, "wx", keep ? 0o600 : (options.mode ?? 0o666));
  unfinished.add(temporary);
  try {
    try {
      await file.writeFile(data);
      if (keep) await keepOwnerAndMode(file, keep);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  } finally {
    unfinished.delete(temporary);
  }
  return { created: existing === undefined };
}

async function checkReplaceable(path: string, target: string, existing: Stats): Promise<void> {
  if (!existing.isFile()) {
    throw new Error(`${path} is ${existing.isDirectory() ? "a directory" : "not a regular file"}.`);
  }
  // A rename needs no permission on the file itself: without this, read-only files would be replaced.
  await access(target, constants.W_OK);
}

async function keepOwnerAndMode(file: FileHandle, like: Stats): Promise<void> {
  const mode = like.mode & 0o7777;
  const { uid, gid } = await file.stat();
  let kept = uid === like.uid && gid === like.gid;
  if (!kept) {
    // Only root may give a file away; everyone else may still keep a group they belong to.
    kept = await file.chown(like.uid, like.gid).then(
      () => true,
      () =>
        file.chown(uid, like.gid).then(
          () => false,
          () => false,
        ),
    );
  }
  await file.chmod(kept ? mode : mode & ~SET_ID_BITS);
}

function cleanUpAtExit(): void {
  if (cleansUpAtExit) return;
  cleansUpAtExit = true;
  process.once("exit", () => {
    for (const temporary of unfinished) {
      try {
        unlinkSync(temporary);
      } catch {
        // Renamed or gone already: nothing is left behind either way.
      }
    }
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
