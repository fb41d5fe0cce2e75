import { type BigIntStats, closeSync, constants, fstatSync, openSync } from "node:fs";
import {
  access,
  copyFile,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  stat,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import { assertOpenedIsNotProcessSecret } from "@agent/core/toolkit";
import { fsCause } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { mountOf, mountOfDirectory, pinDirectory } from "../paths/pinnedDirectory.js";
import { kindOf } from "../read/regularFile.js";
import { stampOf } from "../read/seenFiles.js";

const STICKY = 0o1000n;

/** What was copied, as it was then: later only this is taken away from the source. */
export interface Copied {
  readonly name: string;
  readonly directory: boolean;
  readonly stamp: string;
  /** It has more names: with each one that goes, the system notes a change of the others. */
  readonly linked: boolean;
  readonly entries: readonly Copied[];
}

/** Where an entry is copied from and to; both directories are pinned or plain paths. */
interface Step {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly newName: string;
  /** The source in the caller's words. */
  readonly shown: string;
  /** The copy by a path that is good to the end, while `to` is only good until its directory is done. */
  readonly lasting: string;
  /** What the system says of `from`. */
  readonly holder: BigIntStats;
}

/** What one copy shares: what it must not leave, how to stop it, and where files with several names were copied to first. */
interface Run {
  /** Where it started: what is mounted below can be copied, but not taken away. */
  readonly mount: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly firstCopies: Map<string, string>;
}

/**
 * Copies a file, a link or a directory tree with modes, times, hard links among its files and (where allowed)
 * owners; files are flushed to the disk. Throws, leaving a partial copy to the caller, on anything that cannot be
 * copied faithfully or, as far as can be seen, not be removed afterwards.
 */
export async function copyTree(
  step: Omit<Step, "lasting" | "holder">,
  signal?: AbortSignal,
): Promise<Copied> {
  const lasting = join(step.to, step.newName);
  const holder = await stat(step.from, { bigint: true });
  const run = { mount: mountOfDirectory(step.from), signal, firstCopies: new Map() };
  return await copyEntry({ ...step, lasting, holder }, run);
}

async function copyEntry(step: Step, run: Run): Promise<Copied> {
  run.signal?.throwIfAborted();
  const info = await lstat(join(step.from, step.name), { bigint: true });
  refuseKept(step, info);
  const linked = info.isFile() && info.nlink > 1n;
  const entry = { name: step.name, stamp: stampOf(info, linked), linked, directory: info.isDirectory() };
  if (info.isFile()) {
    if (!linked || !(await linkToFirst(step, info, run))) await copyRegular(step, info, run);
    return { ...entry, entries: [] };
  }
  if (info.isSymbolicLink()) {
    const copy = join(step.to, step.newName);
    await symlink(await readlink(join(step.from, step.name)), copy);
    await lchown(copy, Number(info.uid), Number(info.gid)).catch(() => undefined);
    await lutimes(copy, seconds(info.atimeNs), seconds(info.mtimeNs));
    return { ...entry, entries: [] };
  }
  if (info.isDirectory()) return { ...entry, entries: await copyDirectory(step, info, run) };
  throw new Error(
    `${showPath(step.shown)} is a ${kindOf(info)}, which cannot be moved to another device; nothing was moved.`,
  );
}

/** Whether the file is there already under another name, which now has this one too. */
async function linkToFirst({ to, newName, lasting }: Step, info: BigIntStats, run: Run): Promise<boolean> {
  // As it was then: one that was written meanwhile has to be copied again.
  const stamp = stampOf(info);
  const first = run.firstCopies.get(stamp);
  run.firstCopies.set(stamp, first ?? lasting);
  if (first === undefined) return false;
  // A disk without hard links, or a path too long for one: then it becomes a file of its own.
  return await link(first, join(to, newName)).then(
    () => true,
    () => false,
  );
}

async function copyRegular(
  { from, name, to, newName, shown }: Step,
  expected: BigIntStats,
  run: Run,
): Promise<void> {
  const fd = openSync(join(from, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const refuseChanged = (): void => {
    if (stampOf(fstatSync(fd, { bigint: true })) === stampOf(expected)) return;
    throw new Error(`${showPath(shown)} changed while it was copied; nothing was moved.`);
  };
  try {
    // A FIFO that took the file's place would be opened once more, and waited for.
    refuseChanged();
    assertOpenedIsNotProcessSecret(fd, expected, shown);
    refuseMounted(mountOf(fd), shown, run);
    const source = process.platform === "linux" ? `/proc/self/fd/${fd}` : join(from, name);
    const copy = join(to, newName);
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    const file = await open(copy, constants.O_RDWR | constants.O_NOFOLLOW).catch(async (error: unknown) => {
      // Copied with a read-only mode: readable is enough to set the rest and to flush it.
      if (expected.mode & 0o200n) throw error;
      return await open(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
    });
    try {
      const kept = await file.chown(Number(expected.uid), Number(expected.gid)).then(
        () => true,
        () => false,
      );
      // A program that runs as its owner must not become one that runs as somebody else.
      await file.chmod(Number(expected.mode & (kept ? 0o7777n : 0o1777n)));
      await file.utimes(seconds(expected.atimeNs), seconds(expected.mtimeNs));
      await file.sync();
    } finally {
      await file.close();
    }
    refuseChanged();
  } finally {
    closeSync(fd);
  }
}

async function copyDirectory(step: Step, info: BigIntStats, run: Run): Promise<Copied[]> {
  const copy = join(step.to, step.newName);
  await mkdir(copy, 0o700);
  const source = pinDirectory(join(step.from, step.name));
  const target = pinDirectory(copy);
  try {
    refuseMounted(source.mount(), step.shown, run);
    const names = await readdir(source.path);
    if (names.length > 0) await refuseUnremovable(source.path, step.shown);
    const entries: Copied[] = [];
    for (const name of names) {
      const [shown, lasting] = [join(step.shown, name), join(step.lasting, name)];
      entries.push(
        await copyEntry(
          { from: source.path, name, to: target.path, newName: name, shown, lasting, holder: info },
          run,
        ),
      );
    }
    return entries;
  } finally {
    source.close();
    target.close();
    await finishDirectory(copy, info);
  }
}

/** Throws if entries of a directory may not be removed: better known before a gigabyte is copied. */
export async function refuseUnremovable(directory: string, shown: string): Promise<void> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`Nothing can be taken out of ${showPath(shown)}: ${fsCause(error)}; nothing was moved.`, {
      cause: error,
    });
  }
}

function refuseMounted(mount: string | undefined, shown: string, run: Run): void {
  if (mount === run.mount) return;
  throw new Error(
    `${showPath(shown)} cannot be taken away, since something is mounted there; nothing was moved. Unmount it first.`,
  );
}

/** Throws if an entry belongs to somebody else and its directory is one (like /tmp) where only owners remove. */
function refuseKept({ holder, shown }: Step, info: BigIntStats): void {
  const user = BigInt(process.geteuid?.() ?? 0);
  if ((holder.mode & STICKY) === 0n || user === 0n || user === info.uid || user === holder.uid) return;
  throw new Error(
    `${showPath(shown)} belongs to another user, and only that user can take it out of its directory; nothing was moved.`,
  );
}

/** Last, when nothing more is put inside: a read-only mode would be in the way and the time would change. */
async function finishDirectory(copy: string, info: BigIntStats): Promise<void> {
  const directory = await open(copy, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await directory.chown(Number(info.uid), Number(info.gid)).catch(() => undefined);
    await directory.chmod(Number(info.mode & 0o7777n));
    await directory.utimes(seconds(info.atimeNs), seconds(info.mtimeNs));
  } finally {
    await directory.close();
  }
}

function seconds(nanoseconds: bigint): number {
  return Number(nanoseconds) / 1e9;
}
