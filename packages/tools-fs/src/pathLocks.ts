/** Lets one piece of work at a time touch a path, in the order of asking. Others run on undisturbed. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` once nobody else holds any of `paths`. Rejects as `work` does; the next in line still runs. */
  async run<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
    const own = [...new Set(paths)];
    const before = own.map((path) => this.#tails.get(path));
    // Entered for all paths in one step, before anything is awaited: so two callers can never wait crosswise.
    const result = Promise.allSettled(before).then(work);
    for (const path of own) this.#tails.set(path, result);
    try {
      return await result;
    } finally {
      for (const path of own) {
        if (this.#tails.get(path) === result) this.#tails.delete(path);
      }
    }
  }
}
