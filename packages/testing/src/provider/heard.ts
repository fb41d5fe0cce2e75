/** How long the server waits for a sign that it was heard. A good provider gives it at once. */
export const PATIENCE_MS = 5000;

/** Lets the server wait until a provider has handed something on. */
export class Heard {
  #isHeard = false;
  #wake: () => void = () => undefined;
  #inTime = true;

  /** False once somebody has waited in vain. */
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
