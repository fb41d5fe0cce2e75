import { Activity, type ActivityFrame } from "../display/activity.js";
import type { Style } from "../text/style.js";
import { type Cursor, LiveRegion } from "./liveRegion.js";
import { refreshSize, type TerminalOutput, terminalSize } from "./terminalKind.js";

/** A terminal to draw on: its size and a write function. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Reads the size again. If it has changed, the resize listeners are called before this returns. */
  refreshSize(): void;
}

/** Adapts the stream of a terminal to a screen. */
export function streamScreen(output: TerminalOutput): Screen {
  return {
    get columns() {
      return terminalSize(output).columns;
    },
    get rows() {
      return terminalSize(output).rows;
    },
    write: (text) => void output.write(text),
    refreshSize: () => refreshSize(output),
  };
}

/** The rows to draw, and those that move to the scrollback above them. */
export interface ScreenLayout extends ActivityFrame {
  readonly cursor: Cursor;
}

/** Adds rows of the host, such as an input line, to those of the activity. One column is left free. */
export type LayOut = (
  activity: (width: number, room: number) => ActivityFrame,
  size: { readonly width: number; readonly height: number },
) => ScreenLayout;

export interface LiveScreenOptions {
  readonly style: Style;
}

/**
 * An agent's activity on a terminal: finished work moves to the scrollback; what changes is drawn at the bottom, at
 * most about thirty times a second.
 */
export class LiveScreen {
  readonly activity: Activity;
  readonly #screen: Screen;
  readonly #layOut: LayOut;
  readonly #region: LiveRegion;
  readonly #frames: Frames;
  /** How many of the drawn rows, from the first, are the answer; 0 unless the rows contain all of it. */
  #answerRows = 0;
  /** Whether something else writes to the terminal, below the drawn rows. */
  #isLent = false;

  constructor(screen: Screen, options: LiveScreenOptions, layOut: LayOut) {
    this.#screen = screen;
    this.#layOut = layOut;
    this.activity = new Activity({ ...options, now: Date.now });
    this.#region = new LiveRegion((text) => screen.write(text));
    this.#frames = new Frames(
      () => this.#draw(),
      () => screen.refreshSize(),
    );
  }

  /** The width to draw for: some terminals wrap a row that fills the whole width. */
  get columns(): number {
    return this.#screen.columns - 1;
  }

  /** Requests a frame, because something has changed. */
  request(): void {
    this.#frames.request();
  }

  draw(): void {
    this.#frames.draw();
  }

  /** Draws repeatedly, for a clock, until `rest`. */
  tick(): void {
    this.#frames.tick();
  }

  rest(): void {
    this.#frames.rest();
  }

  /** Called when the terminal was resized. */
  resized(): void {
    if (this.#isLent) return;
    this.#frames.resized(() => {
      if (this.#answerRows > 0) this.activity.keepShown();
      this.#region.resized(this.#screen.columns, this.#answerRows);
    });
  }

  /** Draws on an empty row, because another program has written to the terminal: erases nothing. */
  redraw(): void {
    this.#region.forget();
    this.#answerRows = 0;
    this.draw();
  }

  /** Erases the live rows; the conversation stays. `draw` restores them. */
  hide(): void {
    this.#frames.settle();
    const { above } = this.activity.frame(this.columns, this.#screen.rows);
    this.#answerRows = 0;
    this.#region.draw({ above, rows: [] });
    this.#region.clear();
  }

  /** Hides, and draws nothing until `resume`: another program has the terminal. */
  leave(): void {
    this.hide();
    this.#isLent = true;
  }

  /** Draws again, on the empty row where the cursor is. */
  resume(): void {
    this.#isLent = false;
    this.redraw();
  }

  /** Hides while `work` writes to the terminal. */
  async suspendDuring<T>(work: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await work();
    } finally {
      this.resume();
    }
  }

  /** Hides permanently. */
  close(): void {
    this.#frames.close();
    this.activity.end();
    this.hide();
  }

  #draw(): void {
    if (this.#isLent) return;
    const { answerRows, ...frame } = this.#layOut((width, room) => this.activity.frame(width, room), {
      width: this.columns,
      height: this.#screen.rows,
    });
    this.#answerRows = answerRows;
    this.#region.draw(frame);
  }
}

const FRAME_MS = 33;
const TICK_MS = 100;
// While a window is dragged its size changes many times. A frame drawn for one size would arrive at the next size and
// erase rows above the live region, so drawing waits until the size has been stable this long.
const SETTLE_MS = 50;

/** Schedules frames: at most about thirty per second, and at least ten while a turn runs, for its clock. */
class Frames {
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
