import type { Stats } from "node:fs";
import { link, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pinDirectory, temporaryName } from "@agent/core/toolkit";
import { errorCode, fsCause, isMissing } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { stampOf } from "../read/seenFiles.js";
import type { Workspace } from "../workspace.js";
import { makeDirectories, removeMade } from "../write/makeDirectories.js";
import { type Copied, copyTree, refuseUnremovable } from "./copy.js";
import { removeTree } from "./remove.js";

const MAX_CAUSES = 10;

/** A move that has been checked. Both paths are canonical; `shown` is the source as the caller wrote it. */
export interface Move {
  readonly source: string;
  readonly target: string;
  readonly info: Stats;
  readonly replace: boolean;
  /** Both paths are hard links of the same file: only the old name has to be removed. */
  readonly sameFile: boolean;
  readonly shown: string;
}

/**
 * Performs a move by renaming or, to another device, by copying and then removing what was copied. The source is not
 * touched until the copy is complete under its new name; a failure leaves no partial copy.
 */
export async function performMove(workspace: Workspace, move: Move, signal?: AbortSignal): Promise<void> {
  const made = await makeDirectories(workspace, dirname(move.target));
  try {
    const source = workspace.pin(dirname(move.source));
    try {
      const target = workspace.pin(dirname(move.target));
      try {
        await moveBetween(source.path, target.path, move, signal);
      } finally {
        target.close();
      }
    } finally {
      source.close();
    }
  } catch (error) {
    await removeMade(workspace, made);
    throw error;
  }
}

async function moveBetween(from: string, to: string, move: Move, signal?: AbortSignal): Promise<void> {
  const source = join(from, basename(move.source));
  if (move.sameFile) return await unlink(source);
  try {
    await renameEntry(source, join(to, basename(move.target)), move.info, move.replace);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    await moveAcross(from, to, move, signal);
  }
}

async function moveAcross(from: string, to: string, move: Move, signal?: AbortSignal): Promise<void> {
  const name = basename(move.source);
  const temporary = temporaryName();
  await refuseUnremovable(from, dirname(move.shown));
  const copied = await (async () => {
    try {
      const copied = await copyTree({ from, name, to, newName: temporary, shown: move.shown }, signal);
      await renameEntry(join(to, temporary), join(to, basename(move.target)), move.info, move.replace);
      return copied;
    } catch (error) {
      const { left } = await removeTree(to, temporary, temporary);
      throw left === 0 ? error : leftBehind(error, temporary);
    }
  })();
  const left = await removeCopiedSource(from, copied, move.shown);
  if (left.length === 0) return;
  const more = left.length > MAX_CAUSES ? `\n… and ${left.length - MAX_CAUSES} more` : "";
  throw new Error(
    `${showPath(move.shown)} was copied whole, but the source could not be removed completely:\n` +
      left.slice(0, MAX_CAUSES).map(showPath).join("\n") +
      more,
  );
}

/** The error with the name of the partial copy that could not be removed. */
function leftBehind(error: unknown, temporary: string): Error {
  const cause = fsCause(error).replace(/\.$/, "");
  return new Error(`${cause}; part of the copy, ${temporary}, could not be removed.`, { cause: error });
}

/**
 * Removes from a directory exactly the entries that were copied and have not changed since; entries added or changed
 * later stay. Returns one reason for each remaining entry.
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

// Error codes of `link` on file systems that have no hard links or do not allow this one.
const NO_LINKS = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EINVAL"]);

/**
 * Renames an entry on the same device. Without `replace` an existing target is never replaced (`EEXIST`), even if
 * another program creates it at the same moment.
 */
async function renameEntry(from: string, to: string, info: Stats, replace: boolean): Promise<void> {
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
