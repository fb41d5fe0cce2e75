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
import {
  assertOpenedIsNotProcessSecret,
  mountOf,
  mountOfDirectory,
  namesOpenFiles,
  pinDirectory,
} from "@agent/core/toolkit";
import { fsCause } from "../errors/fsError.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import { stampOf } from "../read/seenFiles.js";

const STICKY = 0o1000n;

/** A copied entry with its stamp at that time: the source is removed only if its stamp is still the same. */
export interface Copied {
  readonly name: string;
  readonly directory: boolean;
  readonly stamp: string;
  /** The file has several hard links: removing one changes the ctime of the others. */
  readonly linked: boolean;
  readonly entries: readonly Copied[];
}

/** Source and target of a copied entry; both directories are pinned or plain paths. */
interface CopyStep {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly newName: string;
  /** The source as the caller wrote it, for messages. */
  readonly shown: string;
  /** The permanent path of the copy; `to` is the path of a descriptor, which is closed once its directory is done. */
  readonly lasting: string;
  /** The result of `lstat` for `from`. */
  readonly holder: BigIntStats;
}

/** State of one copy: its mount, its abort signal, and the first copy of each file with several hard links. */
interface Run {
  /** The mount that the copy started on. Another mount below it could be copied, but not removed afterwards. */
  readonly mount: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly firstCopies: Map<string, string>;
}

/**
 * Copies a file, a symlink or a directory tree with modes, times, hard links among its files and (if allowed) owners;
 * files are synced to the disk. Throws, leaving a partial copy to the caller, for anything that cannot be copied
 * faithfully and, as far as that can be checked, for anything that cannot be removed afterwards.
 */
export async function copyTree(
  step: Omit<CopyStep, "lasting" | "holder">,
  signal?: AbortSignal,
): Promise<Copied> {
  const lasting = join(step.to, step.newName);
  const holder = await stat(step.from, { bigint: true });
  const run = { mount: mountOfDirectory(step.from), signal, firstCopies: new Map() };
  return await copyEntry({ ...step, lasting, holder }, run);
}

async function copyEntry(step: CopyStep, run: Run): Promise<Copied> {
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

/** Creates a hard link to the first copy of the same file. Returns false if there is none or links do not work. */
async function linkToFirst(
  { to, newName, lasting }: CopyStep,
  info: BigIntStats,
  run: Run,
): Promise<boolean> {
  // The key is the stamp: a file that was written meanwhile has another one and is copied again.
  const stamp = stampOf(info);
  const first = run.firstCopies.get(stamp);
  run.firstCopies.set(stamp, first ?? lasting);
  if (first === undefined) return false;
  // Without hard links on the target disk the copy becomes a separate file.
  return await link(first, join(to, newName)).then(
    () => true,
    () => false,
  );
}

async function copyRegular(
  { from, name, to, newName, shown }: CopyStep,
  expected: BigIntStats,
  run: Run,
): Promise<void> {
  const fd = openSync(join(from, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const refuseChanged = (): void => {
    if (stampOf(fstatSync(fd, { bigint: true })) === stampOf(expected)) return;
    throw new Error(`${showPath(shown)} changed while it was copied; nothing was moved.`);
  };
  try {
    // `copyFile` opens the path again and would wait for a FIFO that replaced the file.
    refuseChanged();
    assertOpenedIsNotProcessSecret(fd, expected, shown);
    refuseMounted(mountOf(fd), shown, run);
    const source = namesOpenFiles() ? `/proc/self/fd/${fd}` : join(from, name);
    const copy = join(to, newName);
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    const file = await open(copy, constants.O_RDWR | constants.O_NOFOLLOW).catch(async (error: unknown) => {
      // A read-only copy cannot be opened for writing; reading is enough to set its attributes and to flush it.
      if (expected.mode & 0o200n) throw error;
      return await open(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
    });
    try {
      const kept = await file.chown(Number(expected.uid), Number(expected.gid)).then(
        () => true,
        () => false,
      );
      // Drop set-user-ID if the owner changed: the program would run as another user.
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

async function copyDirectory(step: CopyStep, info: BigIntStats, run: Run): Promise<Copied[]> {
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

/** Throws if entries of a directory may not be removed. Checked first, to avoid copying a gigabyte in vain. */
export async function refuseUnremovable(directory: string, shown: string): Promise<void> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`Nothing can be moved out of ${showPath(shown)}: ${fsCause(error)}; nothing was moved.`, {
      cause: error,
    });
  }
}

function refuseMounted(mount: string | undefined, shown: string, run: Run): void {
  if (mount === run.mount) return;
  throw new Error(
    `${showPath(shown)} cannot be moved, since something is mounted there; nothing was moved. Unmount it first.`,
  );
}

/** Throws if an entry belongs to another user and its directory is sticky (like /tmp): only the owner can remove it. */
function refuseKept({ holder, shown }: CopyStep, info: BigIntStats): void {
  const user = BigInt(process.geteuid?.() ?? 0);
  if ((holder.mode & STICKY) === 0n || user === 0n || user === info.uid || user === holder.uid) return;
  throw new Error(
    `${showPath(shown)} belongs to another user, and only that user can take it out of its directory; nothing was moved.`,
  );
}

/**
 * Sets mode and times of a directory last: a read-only mode would stop the copy, and each new entry changes the mtime.
 */
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
