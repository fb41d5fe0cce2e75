const FRAME_MS = 33;
const TICK_MS = 100;

/** When to draw: at most about thirty times a second, and while something runs at least ten times, for its clock. */
export class Frames {
  readonly #draw: () => void;
  #ticker: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #lastDrawn = 0;
  #closed = false;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** Something has changed: it is drawn soon. */
  request(): void {
    if (this.#next || this.#closed) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#lastDrawn));
    this.#next = setTimeout(() => this.draw(), wait);
  }

  /** Draws at once. */
  draw(): void {
    if (this.#closed) return;
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#lastDrawn = performance.now();
    this.#draw();
  }

  /** Draws again and again, until `rest`. */
  tick(): void {
    clearInterval(this.#ticker);
    this.#ticker = setInterval(() => this.request(), TICK_MS);
  }

  rest(): void {
    clearInterval(this.#ticker);
  }

  /** Nothing is drawn any more. */
  close(): void {
    this.rest();
    clearTimeout(this.#next);
    this.#closed = true;
  }
}
