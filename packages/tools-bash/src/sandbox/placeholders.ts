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

/** How long another process may keep the list of placeholders: it only reads and writes small files meanwhile. */
const LONGEST_WAIT_MS = 2000;

/** What one command uses of a directory. */
export interface PlaceholderUse {
  readonly paths: readonly string[];
  /** The file that tells other processes about it; `undefined` if there is none. */
  readonly note: string | undefined;
  /** Removes the placeholders that no command uses any more, of any process. */
  leave(): void;
}

/**
 * The empty files and directories that bubblewrap makes below a writable directory to mount on. Agents that work in the same
 * directory share them: anyone who removes one takes the mount on it away from every other sandbox. Each use is therefore noted
 * in a private directory of this user, under a lock, and the last one removes them.
 */
export class Placeholders {
  /** Uses that are told to no one else. */
  readonly #own = new Set<readonly string[]>();

  /**
   * Notes what a command is going to use. `choose` gets the placeholders that others use now, which look like files and
   * directories of the project, and returns those of this command. Throws if another process keeps the list for too long.
   */
  enter(root: string, choose: (others: ReadonlySet<string>) => readonly string[]): PlaceholderUse {
    // Without a directory for locks no other process can be told: then only the commands of this process share.
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
    // Others use placeholders here, or the list cannot be read: what is left behind is empty.
  } finally {
    held?.release();
  }
}

/** The placeholders that commands of processes that are alive use. Notes of others are removed. */
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

/** Waits without letting anything else run: a command that ends with the process has no time for more. */
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
