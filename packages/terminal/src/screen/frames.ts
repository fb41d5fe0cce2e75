const FRAME_MS = 33;
const TICK_MS = 100;
// While a window is dragged its size changes many times. A frame drawn for one size would arrive at the next size and
// erase rows above the live region, so drawing waits until the size has been stable this long.
const SETTLE_MS = 50;

/** Schedules frames: at most about thirty per second, and at least ten while a turn runs, for its clock. */
export class Frames {
  readonly #draw: () => void;
  readonly #refreshSize: () => void;
  #ticker: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #settling: { readonly timer: NodeJS.Timeout; readonly settled: () => void } | undefined;
  #lastDrawn = 0;
  #closed = false;

  /** `refreshSize` reads the terminal's size; if it has changed, it must cause a call of `resized`. */
  constructor(draw: () => void, refreshSize: () => void) {
    this.#draw = draw;
    this.#refreshSize = refreshSize;
  }

  /** Requests a frame, because something has changed. */
  request(): void {
    if (this.#next || this.#settling || this.#closed) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#lastDrawn));
    this.#next = setTimeout(() => this.draw(), wait);
  }

  /** Draws immediately, unless the terminal is being resized. */
  draw(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#refreshSize();
    if (this.#settling || this.#closed) return;
    this.#lastDrawn = performance.now();
    this.#draw();
  }

  /** Draws repeatedly, until `rest`. */
  tick(): void {
    clearInterval(this.#ticker);
    this.#ticker = setInterval(() => this.request(), TICK_MS);
  }

  rest(): void {
    clearInterval(this.#ticker);
  }

  /** Pauses drawing until the terminal's size is stable; then calls `settled` and draws. */
  resized(settled: () => void): void {
    if (this.#closed) return;
    clearTimeout(this.#settling?.timer);
    this.#settling = { timer: setTimeout(() => this.#settleIfStable(), SETTLE_MS), settled };
  }

  /** Ends the pause after a resize immediately. */
  settle(): void {
    if (!this.#settling) return;
    const { timer, settled } = this.#settling;
    clearTimeout(timer);
    this.#settling = undefined;
    settled();
    this.draw();
  }

  #settleIfStable(): void {
    const waited = this.#settling;
    this.#refreshSize();
    if (this.#settling === waited) this.settle();
  }

  /** Stops drawing permanently. */
  close(): void {
    this.settle();
    this.rest();
    clearTimeout(this.#next);
    this.#closed = true;
  }
}
