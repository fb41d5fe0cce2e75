import type { Stats } from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { temporaryName } from "@agent/core/toolkit";
import { errorCode, fsCause } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import type { Workspace } from "../workspace.js";
import { makeDirectories, removeMade } from "../write/makeDirectories.js";
import { copyTree, refuseUnremovable } from "./copy.js";
import { removeTree } from "./remove.js";
import { removeCopiedSource } from "./removeCopiedSource.js";
import { renameEntry } from "./rename.js";

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

/** The error, extended by the name of the partial copy that could not be removed. */
function leftBehind(error: unknown, temporary: string): Error {
  const cause = fsCause(error).replace(/\.$/, "");
  return new Error(`${cause}; part of the copy, ${temporary}, could not be removed.`, { cause: error });
}
