import { dirname } from "node:path";

/** The calls that hold the lock of a path, or of something below it. */
interface Holders {
  /** The last call that holds the path itself. */
  own: Promise<unknown> | undefined;
  /** The calls after it that hold something below the path. */
  readonly below: Set<Promise<unknown>>;
}

/**
 * One lock per path, granted in the order of request. Work on a directory waits for work on its contents and the
 * reverse; work on different entries of a directory runs in parallel.
 */
export class PathLocks {
  readonly #holders = new Map<string, Holders>();

  /**
   * Runs `work` once no other call holds any of `paths`, which are absolute. Rejects like `work`. If the call was
   * aborted while it waited, rejects without running `work`; the calls queued after it still run.
   */
  async run<T>(
    paths: readonly string[],
    work: () => Promise<T>,
    call?: { readonly signal?: AbortSignal },
  ): Promise<T> {
    const own = new Set(paths);
    const around = new Set(paths.flatMap(ancestors));
    // Queue for all paths before any await, so that two callers cannot deadlock.
    const before = this.#before(own, around);
    const result = Promise.allSettled(before).then(() => {
      // Read `signal` lazily: creating an AbortSignal is slow and most calls never wait.
      if (before.length > 0) call?.signal?.throwIfAborted();
      return work();
    });
    this.#enter(result, own, around);
    try {
      return await result;
    } finally {
      this.#leave(result, own, around);
    }
  }

  #before(own: ReadonlySet<string>, around: ReadonlySet<string>): Promise<unknown>[] {
    const before = new Set<Promise<unknown>>();
    for (const path of [...own, ...around]) {
      const holders = this.#holders.get(path);
      if (holders?.own) before.add(holders.own);
      if (own.has(path)) for (const one of holders?.below ?? []) before.add(one);
    }
    return [...before];
  }

  #enter(work: Promise<unknown>, own: ReadonlySet<string>, around: ReadonlySet<string>): void {
    for (const path of around) this.#at(path).below.add(work);
    for (const path of own) {
      const holders = this.#at(path);
      holders.own = work;
      // The next caller waits for this work, which already waits for everything below.
      holders.below.clear();
    }
  }

  #leave(work: Promise<unknown>, own: ReadonlySet<string>, around: ReadonlySet<string>): void {
    for (const path of [...own, ...around]) {
      const holders = this.#holders.get(path);
      if (holders === undefined) continue;
      holders.below.delete(work);
      if (holders.own === work) holders.own = undefined;
      if (holders.own === undefined && holders.below.size === 0) this.#holders.delete(path);
    }
  }

  #at(path: string): Holders {
    const holders = this.#holders.get(path) ?? { own: undefined, below: new Set() };
    this.#holders.set(path, holders);
    return holders;
  }
}

/** All ancestor directories of a path. */
function ancestors(path: string): string[] {
  const all: string[] = [];
  for (let current = path; dirname(current) !== current; ) {
    current = dirname(current);
    all.push(current);
  }
  return all;
}
