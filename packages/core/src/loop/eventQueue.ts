/** An asynchronous queue of events: one producer, one consumer, in order and without loss. */
export class EventQueue<T> {
  #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  readonly push = (event: T): void => {
    this.#waiting.push(event);
    this.#wake?.();
  };

  get isEnded(): boolean {
    return this.#ended;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Everything that has arrived, waiting for at least one event; `undefined` once it has ended. */
  async take(): Promise<T[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
