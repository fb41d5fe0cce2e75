import { statSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { pinDirectory } from "@agent/core/toolkit";
import { errorCode } from "../errors/fsError.js";
import type { Workspace } from "../workspace.js";

/**
 * Creates a directory by its canonical path, with missing parents. Returns the created directories, outermost first.
 * Creates each one inside its pinned parent, so that a symlink that replaces a parent meanwhile is not followed.
 */
export async function makeDirectories(workspace: Workspace, directory: string): Promise<string[]> {
  // The usual case needs no asynchronous call.
  if (!workspace.pins && isDirectory(directory)) return [];
  // Node's `recursive` option loops forever in /proc, where mkdir and stat both return ENOENT.
  const existing = deepestExisting(workspace, directory);
  let pinned = existing.pinned;
  let path = existing.path;
  const made: string[] = [];
  try {
    for (const name of relative(path, directory).split(sep).filter(Boolean)) {
      const isNew = await mkdir(join(pinned.path, name)).then(
        () => true,
        (error: unknown) => {
          if (errorCode(error) === "EEXIST") return false;
          throw error;
        },
      );
      const next = pinDirectory(join(pinned.path, name));
      pinned.close();
      pinned = next;
      path = join(path, name);
      if (isNew) made.push(path);
    }
  } catch (error) {
    await removeMade(workspace, made);
    throw error;
  } finally {
    pinned.close();
  }
  return made;
}

/** Removes created directories after the work they were created for failed. One that is not empty stays. */
export async function removeMade(workspace: Workspace, made: readonly string[]): Promise<void> {
  for (const path of made.toReversed()) await removeIfEmpty(workspace, path).catch(() => undefined);
}

async function removeIfEmpty(workspace: Workspace, path: string): Promise<void> {
  const pinned = workspace.pin(dirname(path));
  try {
    await rmdir(join(pinned.path, basename(path)));
  } finally {
    pinned.close();
  }
}

type Pinned = ReturnType<Workspace["pin"]>;

function deepestExisting(workspace: Workspace, directory: string): { path: string; pinned: Pinned } {
  for (let path = directory; ; path = dirname(path)) {
    try {
      return { path, pinned: workspace.pins ? workspace.pin(path) : pinDirectory(path) };
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || path === dirname(path)) throw error;
    }
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
