import { lstat, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { pinDirectory } from "@agent/core/toolkit";
import { fsCause, isMissing } from "../errors/fsError.js";
import { stampOf } from "../read/seenFiles.js";
import type { Copied } from "./copy.js";

/**
 * Removes from a directory exactly the entries that were copied and have not changed since; entries added or changed
 * later stay. Returns one reason for each entry that is left.
 */
export async function removeCopiedSource(
  directory: string,
  copied: Copied,
  shown: string,
): Promise<string[]> {
  const path = join(directory, copied.name);
  try {
    if (copied.directory) return await takeDirectory(path, copied, shown);
    if (stampOf(await lstat(path, { bigint: true }), copied.linked) !== copied.stamp) {
      return [`${shown}: it changed after it was copied`];
    }
    await unlink(path);
    return [];
  } catch (error) {
    return isMissing(error) ? [] : [`${shown}: ${fsCause(error)}`];
  }
}

async function takeDirectory(path: string, copied: Copied, shown: string): Promise<string[]> {
  const pinned = pinDirectory(path);
  const left: string[] = [];
  try {
    for (const entry of copied.entries) {
      for (const cause of await removeCopiedSource(pinned.path, entry, join(shown, entry.name)))
        left.push(cause);
    }
  } finally {
    pinned.close();
  }
  if (left.length === 0) await rmdir(path);
  return left;
}
