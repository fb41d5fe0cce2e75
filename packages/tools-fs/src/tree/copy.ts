import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { holdDirectory } from "../heldDirectory.js";
import {
  closeSync,
  constants,
  copyFile,
  fstatSync,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  openSync,
  readdir,
  readlink,
  symlink,
} from "../nodeFs.js";
import { showPath } from "../pathText.js";
import { kindOf } from "../regularFile.js";
import { stampOf } from "../seenFiles.js";

/** What was copied, as it was then: later only this is taken away from the source. */
export interface Copied {
  readonly name: string;
  readonly directory: boolean;
  readonly stamp: string;
  readonly entries: readonly Copied[];
}

/** Where an entry is copied from and to; both directories are held or plain paths. */
interface Step {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly newName: string;
  /** The source in the caller's words. */
  readonly shown: string;
}

/**
 * Copies a file, a link or a directory tree with modes, times and (where allowed) owners; files are flushed
 * to the disk. Throws, leaving a partial copy to the caller, on anything that cannot be copied faithfully.
 */
export async function copyTree(step: Step, signal?: AbortSignal): Promise<Copied> {
  signal?.throwIfAborted();
  const info = await lstat(join(step.from, step.name), { bigint: true });
  const entry = { name: step.name, stamp: stampOf(info), directory: info.isDirectory() };
  if (info.isFile()) {
    await copyRegular(step, info);
    return { ...entry, entries: [] };
  }
  if (info.isSymbolicLink()) {
    const copy = join(step.to, step.newName);
    await symlink(await readlink(join(step.from, step.name)), copy);
    await lchown(copy, Number(info.uid), Number(info.gid)).catch(() => undefined);
    await lutimes(copy, seconds(info.atimeNs), seconds(info.mtimeNs));
    return { ...entry, entries: [] };
  }
  if (info.isDirectory()) return { ...entry, entries: await copyDirectory(step, info, signal) };
  throw new Error(
    `${showPath(step.shown)} is a ${kindOf(info)}, which cannot be moved to another device; nothing was moved.`,
  );
}

async function copyRegular({ from, name, to, newName, shown }: Step, expected: BigIntStats): Promise<void> {
  const fd = openSync(join(from, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const source = process.platform === "linux" ? `/proc/self/fd/${fd}` : join(from, name);
    const copy = join(to, newName);
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    const file = await open(copy, constants.O_RDWR | constants.O_NOFOLLOW).catch(async (error: unknown) => {
      // Copied with a read-only mode: readable is enough to set the rest and to flush it.
      if (expected.mode & 0o200n) throw error;
      return await open(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
    });
    try {
      await file.chown(Number(expected.uid), Number(expected.gid)).catch(() => undefined);
      await file.chmod(Number(expected.mode & 0o7777n));
      await file.utimes(seconds(expected.atimeNs), seconds(expected.mtimeNs));
      await file.sync();
    } finally {
      await file.close();
    }
    if (stampOf(fstatSync(fd, { bigint: true })) !== stampOf(expected)) {
      throw new Error(`${showPath(shown)} changed while it was copied; nothing was moved.`);
    }
  } finally {
    closeSync(fd);
  }
}

async function copyDirectory(step: Step, info: BigIntStats, signal?: AbortSignal): Promise<Copied[]> {
  const copy = join(step.to, step.newName);
  await mkdir(copy, 0o700);
  const source = holdDirectory(join(step.from, step.name));
  const target = holdDirectory(copy);
  try {
    const entries: Copied[] = [];
    for (const name of await readdir(source.path)) {
      const shown = join(step.shown, name);
      entries.push(
        await copyTree({ from: source.path, name, to: target.path, newName: name, shown }, signal),
      );
    }
    return entries;
  } finally {
    source.close();
    target.close();
    await finishDirectory(copy, info);
  }
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
