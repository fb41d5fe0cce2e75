const FRAME_MS = 33;
const TICK_MS = 100;
// A window that is dragged changes its size again and again. What is drawn for one size while the window has the next
// would take away rows that are not its own.
const SETTLE_MS = 50;

/** When to draw: at most about thirty times a second, and while something runs at least ten times, for its clock. */
export class Frames {
  readonly #draw: () => void;
  #ticker: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #settling: { readonly timer: NodeJS.Timeout; readonly settled: () => void } | undefined;
  #lastDrawn = 0;
  #closed = false;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** Something has changed: it is drawn soon. */
  request(): void {
    if (this.#next || this.#settling || this.#closed) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#lastDrawn));
    this.#next = setTimeout(() => this.draw(), wait);
  }

  /** Draws at once, unless the terminal is changing its size. */
  draw(): void {
    if (this.#settling || this.#closed) return;
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

  /** The terminal changes its size: nothing is drawn until it has kept one for a moment. Then `settled`, and a frame. */
  resized(settled: () => void): void {
    if (this.#closed) return;
    clearTimeout(this.#settling?.timer);
    this.#settling = { timer: setTimeout(() => this.settle(), SETTLE_MS), settled };
  }

  /** Takes the terminal's size as it is now, without waiting longer. */
  settle(): void {
    if (!this.#settling) return;
    const { timer, settled } = this.#settling;
    clearTimeout(timer);
    this.#settling = undefined;
    settled();
    this.draw();
  }

  /** Nothing is drawn any more. */
  close(): void {
    this.settle();
    this.rest();
    clearTimeout(this.#next);
    this.#closed = true;
  }
}
