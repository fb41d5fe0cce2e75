import { chmod, constants, lstat, mkdir, open, realpath, rm, rmdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorMessage, writeFileAtomic } from "@agent/core/toolkit";
import { pinDirectory } from "@agent/internal";
import type { BlobStore } from "./blobStore.js";
import { type FileState, isSameState, MISSING, readState } from "./fileState.js";

/** The state of a path before and after a change. */
export interface FileChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Another program or user changed the path between two calls: undoing would lose that change. */
  readonly mixed?: boolean;
}

export interface Restored {
  readonly restored: readonly string[];
  /** Paths that were skipped, each with the reason. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Restores every path that is still in its state `from` to its state `to`. A path in any other state was changed since:
 * it is skipped and reported.
 */
export async function restore(
  changes: readonly FileChange[],
  direction: "undo" | "redo",
  blobs: BlobStore,
): Promise<Restored> {
  const restored: string[] = [];
  const kept: { path: string; reason: string }[] = [];
  const steps: RestoreStep[] = [];
  for (const change of changes) {
    const [from, to] = direction === "undo" ? [change.after, change.before] : [change.before, change.after];
    const reason = await findObstacle(change, from, to, blobs);
    if (reason === undefined) steps.push({ path: change.path, from, to });
    else kept.push({ path: change.path, reason });
  }
  const attempt = async (step: RestoreStep, work: (step: RestoreStep) => Promise<void>): Promise<boolean> => {
    try {
      await work(step);
      return true;
    } catch (error) {
      kept.push({ path: step.path, reason: describeFailure(error) });
      return false;
    }
  };
  const failed = new Set<RestoreStep>();
  // First remove, innermost paths first; then create directories from the outside in; then write the files in them.
  for (const step of [...steps].sort(innermostFirst)) {
    if (isRemoved(step) && !(await attempt(step, (one) => removeOld(one, blobs)))) failed.add(step);
  }
  for (const step of [...steps].sort(innermostFirst).reverse()) {
    if (failed.has(step)) continue;
    if (step.to.kind !== "missing" && !(await attempt(step, (one) => create(one, blobs)))) failed.add(step);
  }
  // Set the modes of directories last: one may forbid writing.
  for (const step of [...steps].sort(innermostFirst)) {
    if (failed.has(step)) continue;
    const { to } = step;
    if (to.kind === "directory" && !(await attempt(step, () => setMode(step.path, to.mode)))) continue;
    restored.push(step.path);
  }
  return { restored: restored.sort(), kept };
}

function describeFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "its directory is gone";
  return code === "ENOTEMPTY" || code === "EEXIST" ? "something else is in it" : errorMessage(error);
}

interface RestoreStep {
  readonly path: string;
  readonly from: FileState;
  readonly to: FileState;
}

async function findObstacle(
  { path, mixed }: FileChange,
  from: FileState,
  to: FileState,
  blobs: BlobStore,
): Promise<string | undefined> {
  if (mixed) return "it was changed by someone else in between";
  if (to.kind === "other") return to.reason;
  if (from.kind === "other") return from.reason;
  const now = await readState(path, blobs);
  if (!isSameState(now, from)) return "it has changed since";
  // A parent directory may have been replaced with a symlink.
  const parent = dirname(path);
  const real = await realpath(parent).catch(() => undefined);
  return real === undefined || real === parent ? undefined : `${parent} is now a link to another directory`;
}

function isRemoved({ from, to }: RestoreStep): boolean {
  return from.kind !== "missing" && from.kind !== to.kind;
}

async function removeOld({ path, from }: RestoreStep, blobs: BlobStore): Promise<void> {
  await inPlace(path, async (place) => {
    await assertState(place, from, blobs);
    if (from.kind === "directory") await rmdir(place);
    else await rm(place);
  });
}

async function create(step: RestoreStep, blobs: BlobStore): Promise<void> {
  const { path, from, to } = step;
  await inPlace(path, async (place) => {
    await assertState(place, isRemoved(step) ? MISSING : from, blobs);
    if (to.kind === "directory") {
      await mkdir(place, { recursive: true });
      // Allow writing temporarily; the real mode is set last.
      await setMode(place, to.mode | 0o700);
    } else if (to.kind === "link") {
      await rm(place, { force: true });
      await symlink(to.target, place);
    } else if (to.kind === "file") {
      await writeFileAtomic(place, await blobs.read(to.blob), { follow: false });
      await setMode(place, to.mode);
    }
  });
}

/**
 * Works on a path relative to its open directory: a command that is still running could replace the directory with a
 * symlink, and that must have no effect.
 */
async function inPlace(path: string, work: (place: string) => Promise<void>): Promise<void> {
  const parent = dirname(path);
  const pinned = pinDirectory(parent, parent);
  try {
    await work(join(pinned.path, basename(path)));
  } finally {
    pinned.close();
  }
}

async function assertState(place: string, expected: FileState, blobs: BlobStore): Promise<void> {
  if (!isSameState(await readState(place, blobs), expected)) throw new Error("it has changed since");
}

/** Sets the mode of a path, never that of a symlink's target. */
async function setMode(path: string, mode: number): Promise<void> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    await file.chmod(mode).finally(() => file.close());
  } catch (error) {
    // A file without read permission cannot be opened: its owner can change the mode only by its name.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    if (!(await lstat(path)).isSymbolicLink()) await chmod(path, mode);
  }
}

function innermostFirst(a: RestoreStep, b: RestoreStep): number {
  return depth(b.path) - depth(a.path) || (a.path < b.path ? -1 : 1);
}

function depth(path: string): number {
  return path.split("/").length;
}
