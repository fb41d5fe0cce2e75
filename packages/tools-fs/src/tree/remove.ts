import type { Dirent } from "node:fs";
import { lstat, readdir, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { mountOfDirectory, pinDirectory } from "@agent/core/toolkit";
import { fsCause, isMissing } from "../errors/fsError.js";

const AT_ONCE = 32;
const MAX_CAUSES = 10;
const MOUNTED = "another file system is mounted there";

/** The result of a removal. `left` counts the entries that remain; `causes` holds the first few reasons. */
export interface Removal {
  removed: number;
  left: number;
  readonly causes: string[];
}

/** State of one removal: the device and mount it stays on, and its abort signal. */
interface Run {
  readonly device: number;
  readonly mount: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly removal: Removal;
}

/**
 * Removes the entry `name` of a pinned directory with everything below it, and continues after an entry that it cannot
 * remove. Never follows a symlink and never enters a mount. It works inside directories that it holds open, so that it
 * never empties the target of a symlink that replaces one of them meanwhile. `shown` names the entry in `causes`. Once
 * `signal` fires, the remaining entries stay.
 */
export async function removeTree(
  directory: string,
  name: string,
  shown: string,
  signal?: AbortSignal,
): Promise<Removal> {
  const removal: Removal = { removed: 0, left: 0, causes: [] };
  const { dev } = await stat(directory);
  const info = await lstat(join(directory, name)).catch(() => undefined);
  // Only a directory is entered, so only it needs the mount check.
  const mount = info?.isDirectory() ? mountOfDirectory(directory) : undefined;
  await removeEntry({ directory, name, shown }, { device: dev, mount, signal, removal });
  return removal;
}

interface Entry {
  readonly directory: string;
  readonly name: string;
  readonly shown: string;
}

/** Removes one entry; returns whether it is gone. */
async function removeEntry(entry: Entry, run: Run): Promise<boolean> {
  const { removal } = run;
  if (run.signal?.aborted) return leave(removal);
  const path = join(entry.directory, entry.name);
  try {
    const info = await lstat(path);
    if (info.isDirectory()) {
      if (info.dev !== run.device) return leave(removal, entry.shown, MOUNTED);
      // The causes already name what remains inside; count the directory, but do not repeat them.
      if (!(await emptyDirectory(path, entry.shown, run))) return leave(removal);
      await rmdir(path);
    } else {
      await unlink(path);
    }
    removal.removed++;
    return true;
  } catch (error) {
    return isMissing(error) || leave(removal, entry.shown, fsCause(error));
  }
}

async function emptyDirectory(path: string, shown: string, run: Run): Promise<boolean> {
  const pinned = pinDirectory(path);
  try {
    if (pinned.mount() !== run.mount) throw new Error(MOUNTED);
    const entries = await readdir(pinned.path, { withFileTypes: true });
    const remove = ({ name }: Dirent): Promise<boolean> => {
      return removeEntry({ directory: pinned.path, name, shown: join(shown, name) }, run);
    };
    let gone = true;
    const files = entries.filter((entry) => !entry.isDirectory());
    for (let first = 0; first < files.length; first += AT_ONCE) {
      const results = await Promise.all(files.slice(first, first + AT_ONCE).map(remove));
      gone = results.every(Boolean) && gone;
    }
    // Enter one directory at a time: each open one uses a file descriptor.
    for (const entry of entries) if (entry.isDirectory()) gone = (await remove(entry)) && gone;
    return gone;
  } finally {
    pinned.close();
  }
}

function leave(removal: Removal, shown?: string, cause?: string): false {
  removal.left++;
  if (shown !== undefined && removal.causes.length < MAX_CAUSES) removal.causes.push(`${shown}: ${cause}`);
  return false;
}
