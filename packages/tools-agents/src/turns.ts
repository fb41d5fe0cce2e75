/** Lets children that change something run one at a time, in the order in which they ask. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves once it is the caller's turn, with a function that ends it. Rejects on abort. */
  async take(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => ended);
    let cancel = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      cancel = () => reject(new Error("aborted"));
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
    try {
      await Promise.race([before, aborted]);
    } catch (error) {
      end();
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
    return end;
  }
}
