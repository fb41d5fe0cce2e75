import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeEmpty } from "@agent/core/sandbox";
import {
  type HeldLock,
  hasEnded,
  lockFile,
  prepareLockDirectory,
  processTag,
  tryAcquireLock,
} from "@agent/core/toolkit";

/** How long another process may hold the list of placeholders: it only reads and writes small files meanwhile. */
const LONGEST_WAIT_MS = 2000;

/** The placeholders that one command uses in a directory. */
export interface PlaceholderUse {
  readonly paths: readonly string[];
  /** The file that announces it to other processes; `undefined` if there is none. */
  readonly note: string | undefined;
  /** Removes the placeholders that no command of any process uses. */
  leave(): void;
}

/**
 * The empty files and directories that bubblewrap creates below a writable directory as mount points. Agents that work
 * in the same directory share them: removing one would unmount it in every other sandbox. Each use is therefore
 * recorded in a private directory of this user, under a lock, and the last user removes them.
 */
export class Placeholders {
  /** Uses that are not announced to other processes. */
  readonly #own = new Set<readonly string[]>();

  /**
   * Records what a command is going to use. `choose` gets the placeholders that others use now, which look like files
   * and directories of the project, and returns those of this command. Throws if another process holds the list for too
   * long.
   */
  enter(root: string, choose: (others: ReadonlySet<string>) => readonly string[]): PlaceholderUse {
    // Without a lock directory other processes cannot be notified: then only the commands of this process share.
    if (!prepareLockDirectory()) return this.#alone(root, choose);
    const lock = lockFile(join(root, "placeholders of bubblewrap"));
    const users = `${lock}.users`;
    const held = acquire(lock);
    try {
      const paths = choose(usedBy(users));
      const note = join(users, `${processTag()}.${crypto.randomUUID()}`);
      mkdirSync(users, { recursive: true, mode: 0o700 });
      writeFileSync(note, JSON.stringify(paths), { flag: "wx", mode: 0o600 });
      return { paths, note, leave: () => leave(root, { lock, users, note, paths }) };
    } finally {
      held.release();
    }
  }

  #alone(root: string, choose: (others: ReadonlySet<string>) => readonly string[]): PlaceholderUse {
    const used = (): Set<string> => new Set([...this.#own].flat());
    const paths = [...choose(used())];
    this.#own.add(paths);
    return {
      paths,
      note: undefined,
      leave: () => {
        this.#own.delete(paths);
        const others = used();
        for (const path of paths) if (!others.has(path)) removeEmpty(root, path);
      },
    };
  }
}

interface Noted {
  readonly lock: string;
  readonly users: string;
  readonly note: string;
  readonly paths: readonly string[];
}

function leave(root: string, { lock, users, note, paths }: Noted): void {
  let held: HeldLock | undefined;
  try {
    held = acquire(lock);
    unlinkSync(note);
    const others = usedBy(users);
    for (const path of paths) if (!others.has(path)) removeEmpty(root, path);
    rmdirSync(users);
  } catch {
    // Others use placeholders here, or the list cannot be read: the remaining files are empty.
  } finally {
    held?.release();
  }
}

/** The placeholders in use by commands of living processes. Records of other processes are removed. */
function usedBy(users: string): Set<string> {
  const used = new Set<string>();
  for (const name of namesIn(users)) {
    const note = join(users, name);
    if (hasEnded(name.slice(0, name.indexOf("."))) === true) unlinkSync(note);
    else for (const path of JSON.parse(readFileSync(note, "utf8"))) used.add(path);
  }
  return used;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Blocks the thread: a command that ends with the process has no time for more. */
function acquire(lock: string): HeldLock {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const held = tryAcquireLock(lock);
    if (held) return held;
    if (performance.now() > deadline) {
      throw new Error("Another process is preparing a sandbox in the same directory. Try again.");
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
