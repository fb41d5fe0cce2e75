import type { WriteStream } from "node:tty";
import type { AgentEvent, ApprovalRequest } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import type { Style } from "@agent/terminal/host";
import {
  Activity,
  clipRow,
  Frames,
  LiveRegion,
  refreshSize,
  styledWidth,
  terminalSize,
  workingRow,
} from "@agent/terminal/host";
import { note } from "../process/output.js";
import type { Outcome } from "./outcome.js";
import type { Reporter } from "./reporters.js";

/**
 * One task on a terminal, shown as in the chat: the answer as it is written, text between calls, calls with their
 * output and the reason of a failure, and below them the current work and its time.
 */
export class LiveReporter implements Reporter {
  readonly #screen: WriteStream;
  readonly #style: Style;
  readonly #region: LiveRegion;
  readonly #frames = new Frames(
    () => this.#draw(),
    () => refreshSize(this.#screen),
  );
  readonly #activity: Activity;
  #startedAt = Date.now();
  /** How many of the drawn rows, from the first, are the answer; 0 unless the rows hold all of it. */
  #answerRows = 0;
  /** Whether a question is open, which prints below the live region. */
  #isLent = false;

  constructor(screen: WriteStream, style: Style) {
    this.#screen = screen;
    this.#style = style;
    this.#region = new LiveRegion((text) => screen.write(text));
    this.#activity = new Activity({ style, now: Date.now });
  }

  start(): void {
    this.#startedAt = Date.now();
    this.#screen.on("resize", this.#resized);
    this.#frames.tick();
  }

  event(event: AgentEvent): void {
    this.#activity.event(event);
    this.#frames.request();
  }

  notice(message: string): void {
    this.#activity.print(escapeInvisible(message).split("\n"));
    this.#frames.request();
  }

  async whileAsking<T>(work: () => Promise<T>, call?: ApprovalRequest): Promise<T> {
    this.#hide();
    this.#isLent = true;
    try {
      return await work();
    } finally {
      this.#isLent = false;
      if (call) this.#activity.asked(call.id, call.preview?.changes);
      this.#frames.request();
    }
  }

  finish({ error }: Outcome): void {
    this.#frames.close();
    this.#screen.off("resize", this.#resized);
    this.#activity.end();
    this.#hide();
    if (error !== undefined) note(`agent: ${error}`);
  }

  readonly #resized = (): void => {
    if (this.#isLent) return;
    this.#frames.resized(() => {
      if (this.#answerRows > 0) this.#activity.keepShown();
      this.#region.resized(terminalSize(this.#screen).columns, this.#answerRows);
    });
  };

  #draw(): void {
    if (this.#isLent) return;
    // Leave one column free: some terminals wrap a row that fills the whole width.
    const { columns, rows: height } = terminalSize(this.#screen);
    const width = columns - 1;
    const { above, rows, answerRows } = this.#activity.frame(width, Math.max(1, height - 3));
    const working = { doing: this.#activity.doing, startedAt: this.#startedAt, hint: "ctrl+c stops" };
    const all = [...rows, "", workingRow(working, width, this.#style)];
    const shown = all.slice(-(height - 1)).map((row) => clipRow(row, width));
    this.#answerRows = shown.length === all.length ? answerRows : 0;
    const cursor = { row: shown.length - 1, column: styledWidth(shown.at(-1) ?? "") };
    this.#region.draw({ above, rows: shown, cursor });
  }

  /** Erases the live rows; the conversation stays. */
  #hide(): void {
    this.#frames.settle();
    const { columns, rows } = terminalSize(this.#screen);
    const { above } = this.#activity.frame(columns - 1, rows);
    this.#answerRows = 0;
    this.#region.draw({ above, rows: [] });
    this.#region.clear();
  }
}
