import { chmod, mkdir, realpath, rm, rmdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { errorMessage, writeFileAtomic } from "@agent/core/toolkit";
import type { BlobStore } from "./blobStore.js";
import { type FileState, isSameState, readState } from "./fileState.js";

/** What a path held before and after a change. */
export interface Change {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Somebody else changed the path between two calls: taking the change back would lose that. */
  readonly mixed?: boolean;
}

export interface Restored {
  readonly restored: readonly string[];
  /** Paths that were left alone, each with the reason. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Turns every path that still is in its state `from` to its state `to`. A path that is in any other state belongs to
 * somebody else by now: it is left alone and named.
 */
export async function restore(
  changes: readonly Change[],
  direction: "undo" | "redo",
  blobs: BlobStore,
): Promise<Restored> {
  const restored: string[] = [];
  const kept: { path: string; reason: string }[] = [];
  const steps: Step[] = [];
  for (const change of changes) {
    const [from, to] = direction === "undo" ? [change.after, change.before] : [change.before, change.after];
    const reason = await findObstacle(change, from, to, blobs);
    if (reason === undefined) steps.push({ path: change.path, from, to });
    else kept.push({ path: change.path, reason });
  }
  const attempt = async (step: Step, work: (step: Step) => Promise<void>): Promise<boolean> => {
    try {
      await work(step);
      return true;
    } catch (error) {
      kept.push({ path: step.path, reason: describeFailure(error) });
      return false;
    }
  };
  const failed = new Set<Step>();
  // What must go, the innermost first; then directories from the outside in; then what lies in them.
  for (const step of [...steps].sort(innermostFirst)) {
    if (isRemoved(step) && !(await attempt(step, removeOld))) failed.add(step);
  }
  for (const step of [...steps].sort(innermostFirst).reverse()) {
    if (failed.has(step)) continue;
    if (step.to.kind !== "missing" && !(await attempt(step, (one) => create(one, blobs)))) failed.add(step);
  }
  // A directory may forbid writing: its mode comes last.
  for (const step of [...steps].sort(innermostFirst)) {
    if (failed.has(step)) continue;
    const { to } = step;
    if (to.kind === "directory" && !(await attempt(step, () => chmod(step.path, to.mode)))) continue;
    restored.push(step.path);
  }
  return { restored: restored.sort(), kept };
}

function describeFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOTEMPTY" || code === "EEXIST" ? "something else is in it" : errorMessage(error);
}

interface Step {
  readonly path: string;
  readonly from: FileState;
  readonly to: FileState;
}

async function findObstacle(
  { path, mixed }: Change,
  from: FileState,
  to: FileState,
  blobs: BlobStore,
): Promise<string | undefined> {
  if (mixed) return "it was changed by somebody else in between";
  if (to.kind === "other") return to.reason;
  if (from.kind === "other") return from.reason;
  const now = await readState(path, blobs);
  if (!isSameState(now, from)) return "it has changed since";
  // A directory on the way may have been replaced by a link that leads elsewhere.
  const parent = dirname(path);
  const real = await realpath(parent).catch(() => undefined);
  return real === undefined || real === parent ? undefined : `${parent} leads elsewhere now`;
}

function isRemoved({ from, to }: Step): boolean {
  return from.kind !== "missing" && from.kind !== to.kind;
}

async function removeOld({ path, from }: Step): Promise<void> {
  if (from.kind === "directory") await rmdir(path);
  else await rm(path);
}

async function create({ path, to }: Step, blobs: BlobStore): Promise<void> {
  if (to.kind === "directory") {
    await mkdir(path, { recursive: true });
    // Room to work; the real mode comes last.
    await chmod(path, to.mode | 0o700);
  } else if (to.kind === "link") {
    await rm(path, { force: true });
    await symlink(to.target, path);
  } else if (to.kind === "file") {
    await writeFileAtomic(path, await blobs.read(to.blob), { follow: false });
    await chmod(path, to.mode);
  }
}

function innermostFirst(a: Step, b: Step): number {
  return depth(b.path) - depth(a.path) || (a.path < b.path ? -1 : 1);
}

function depth(path: string): number {
  return path.split("/").length;
}
