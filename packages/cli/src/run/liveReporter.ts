import type { WriteStream } from "node:tty";
import type { AgentEvent, ApprovalRequest } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { clipRow, LiveScreen, type Style, streamScreen, styledWidth, workingRow } from "@agent/terminal/host";
import { note } from "../process/output.js";
import type { Outcome } from "./outcome.js";
import type { Reporter } from "./reporters.js";

/**
 * One task on a terminal, shown as in the chat: the answer as it is written, text between calls, calls with their
 * output and the reason of a failure, and below them the current work and its duration.
 */
export class LiveReporter implements Reporter {
  readonly #output: WriteStream;
  readonly #live: LiveScreen;
  readonly #resized = (): void => this.#live.resized();
  #startedAt = Date.now();

  constructor(output: WriteStream, style: Style) {
    this.#output = output;
    this.#live = new LiveScreen(streamScreen(output), { style }, (activity, { width, height }) => {
      const { above, rows, answerRows } = activity(width, Math.max(1, height - 3));
      const working = { doing: this.#live.activity.doing, startedAt: this.#startedAt, hint: "ctrl+c stops" };
      const all = [...rows, "", workingRow(working, width, style)];
      const shown = all.slice(-(height - 1)).map((row) => clipRow(row, width));
      const cursor = { row: shown.length - 1, column: styledWidth(shown.at(-1) ?? "") };
      return { above, rows: shown, answerRows: shown.length === all.length ? answerRows : 0, cursor };
    });
  }

  start(): void {
    this.#startedAt = Date.now();
    this.#output.on("resize", this.#resized);
    this.#live.tick();
  }

  event(event: AgentEvent): void {
    this.#live.activity.event(event);
    this.#live.request();
  }

  notice(message: string): void {
    this.#live.activity.print(escapeInvisible(message).split("\n"));
    this.#live.request();
  }

  async whileAsking<T>(work: () => Promise<T>, call?: ApprovalRequest): Promise<T> {
    try {
      return await this.#live.suspendDuring(work);
    } finally {
      if (call) this.#live.activity.asked(call.id, call.preview?.changes);
    }
  }

  finish({ error }: Outcome): void {
    this.#output.off("resize", this.#resized);
    this.#live.close();
    if (error !== undefined) note(`agent: ${error}`);
  }
}
