/** How soon a change is looked at that no call waits for. A server that reports changes all the time is asked no oftener. */
const PAUSE_MS = 250;

/**
 * Keeps up with a server that says that its tools changed. What was agreed to is compared before the next call, so that no
 * call reaches a tool that the server has announced to be another one.
 */
export class ToolWatch {
  readonly #read: () => Promise<void>;
  #isStale = false;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `read` asks for the tools and compares them. */
  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** The server says that its tools changed. */
  invalidate(): void {
    this.#isStale = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A list that cannot be read is an error of the next call, which reads it again.
      this.settled()?.catch(() => undefined);
    }, PAUSE_MS).unref();
  }

  /**
   * Resolves once every change reported so far was looked at; undefined if there is none. Rejects if the tools cannot be
   * read; they are read again the next time.
   */
  settled(): Promise<void> | undefined {
    if (!this.#isStale) return this.#reading;
    this.#isStale = false;
    // The reading under way may have begun before the last change.
    const before = this.#reading?.catch(() => undefined) ?? Promise.resolve();
    const reading: Promise<void> = before.then(this.#read).then(
      () => this.#finish(reading),
      (error: unknown) => {
        this.#isStale = true;
        this.#finish(reading);
        throw error;
      },
    );
    this.#reading = reading;
    return reading;
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #finish(reading: Promise<void>): void {
    if (this.#reading === reading) this.#reading = undefined;
  }
}
