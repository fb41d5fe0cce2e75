/** How long the server waits for the provider to pass on the first text. A good provider does so at once. */
export const PATIENCE_MS = 5000;

/** Lets the server wait until a provider has passed on something that it received. */
export class Heard {
  #isHeard = false;
  #wake: () => void = () => undefined;
  #inTime = true;

  /** False once a wait has timed out. */
  get inTime(): boolean {
    return this.#inTime;
  }

  now(): void {
    this.#isHeard = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (this.#isHeard) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#inTime = false;
        resolve();
      }, PATIENCE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
