import type { AgentEvent, ApprovalDecision, ApprovalRequest } from "@agent/core";
import { escapeInvisible, escapeToLine } from "@agent/core/toolkit";
import { Activity } from "../display/activity.js";
import { formatDuration } from "../display/duration.js";
import { LiveRegion } from "../display/liveRegion.js";
import { COLOR_STYLE } from "../display/style.js";
import { clipRow, cutToWidth, wrapWords } from "../display/width.js";
import { approvalLines, approvalPrompt, readDecision } from "./approvalQuestion.js";
import { Editor } from "./input/editor.js";
import { viewEditor } from "./input/editorView.js";
import type { ChatView } from "./view.js";

const FRAME_MS = 33;
const TICK_MS = 100;
const PROMPT = "› ";
const MOST_HINTS = 6;
const KEYS = [
  "Enter sends · Alt+Enter, Ctrl+J or \\ at the end of a line starts a new one · Tab completes",
  "Up and Down recall earlier input · Esc or Ctrl+C stops the answer · Ctrl+C twice or Ctrl+D leaves",
  "Ctrl+O shows the whole output of the last tool call that was shortened, then of the one before",
];
const UNCLEAR = "Please answer y, n (with a reason, if you like) or a.";

interface Question {
  readonly request: ApprovalRequest;
  readonly draft: string;
  readonly answer: (decision: ApprovalDecision) => void;
}

/** The size and the pen of a terminal. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

/**
 * The chat on a terminal: the conversation flows into the scrollback, and at the bottom stand what is
 * happening now and the line being written. Frames are drawn at most about thirty times a second.
 */
export class TerminalView implements ChatView {
  readonly style = COLOR_STYLE;
  readonly keys = KEYS;
  readonly editor = new Editor();
  readonly #screen: Screen;
  readonly #region: LiveRegion;
  readonly #activity: Activity;
  #question: Question | undefined;
  #hints: readonly string[] = [];
  #queued: readonly string[] = [];
  #turnStartedAt: number | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #frame: NodeJS.Timeout | undefined;
  #lastDrawn = 0;
  #closed = false;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#region = new LiveRegion((text) => screen.write(text));
    this.#activity = new Activity({ style: this.style, now: Date.now });
  }

  get columns(): number {
    return this.#screen.columns - 1;
  }

  print(lines: readonly string[]): void {
    this.#activity.print(lines);
    this.#schedule();
  }

  event(event: AgentEvent): void {
    this.#activity.event(event);
    this.#schedule();
  }

  echo(input: string): void {
    const [first = "", ...rest] = escapeInvisible(input).split("\n");
    this.print([this.style.bold(PROMPT + first), ...rest.map((line) => this.style.bold(`  ${line}`))]);
  }

  turnStarted(): void {
    this.#turnStartedAt = Date.now();
    this.#ticker = setInterval(() => this.#schedule(), TICK_MS);
  }

  turnEnded(problem: string | undefined): void {
    clearInterval(this.#ticker);
    this.#turnStartedAt = undefined;
    this.#activity.end();
    if (problem !== undefined) this.#activity.print(problem.split("\n").map((line) => this.style.red(line)));
    this.#schedule();
  }

  queued(messages: readonly string[]): void {
    this.#queued = [...messages];
    this.#schedule();
  }

  idle(): void {}

  giveBack(text: string): void {
    this.editor.set(this.editor.text === "" ? text : `${text}\n${this.editor.text}`);
    this.#schedule();
  }

  ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    return new Promise((resolve) => {
      const close = (): void => {
        if (this.#question?.request !== request) return;
        this.editor.set(this.#question.draft);
        this.#question = undefined;
        this.#activity.asking(undefined);
        request.signal.removeEventListener("abort", close);
        this.#schedule();
      };
      const answer = (decision: ApprovalDecision): void => {
        close();
        resolve(decision);
      };
      request.signal.addEventListener("abort", close, { once: true });
      this.#question = { request, draft: this.editor.take(), answer };
      this.#activity.asking(request.id);
      this.print(approvalLines(request, this.style));
    });
  }

  get asking(): boolean {
    return this.#question !== undefined;
  }

  /** Takes the line as the answer to the open question; one that is not clear is asked for again. */
  answerQuestion(): void {
    const text = this.editor.take();
    const decision = readDecision(text);
    if (!decision) {
      this.hint([UNCLEAR]);
      return;
    }
    this.#activity.note(`? ${escapeToLine(text.trim())}`);
    this.#question?.answer(decision);
  }

  expandNext(): void {
    if (!this.#activity.expandNext()) this.hint(["Nothing was shortened."]);
  }

  /** Words below the line being written, until the next key. They must be safe to show. */
  hint(lines: readonly string[]): void {
    this.#hints = lines.slice(0, MOST_HINTS);
    if (lines.length > MOST_HINTS) this.#hints = [...this.#hints, `… ${lines.length - MOST_HINTS} more`];
    this.#schedule();
  }

  /** The terminal changed its size. */
  resized(): void {
    this.#region.resized(this.#screen.columns);
    this.draw();
  }

  /** Starts on an empty row; what was drawn is not ours any more. */
  redraw(): void {
    this.#region.forget();
    this.draw();
  }

  /** Takes the live rows away; all that was said stays. `draw` brings them back. */
  hide(): void {
    const { above } = this.#activity.frame(this.columns, this.#screen.rows);
    this.#region.draw({ above, rows: [] });
    this.#region.clear();
  }

  /** Hides for good. */
  close(): void {
    clearInterval(this.#ticker);
    clearTimeout(this.#frame);
    this.#closed = true;
    this.#activity.end();
    this.hide();
  }

  draw(): void {
    if (this.#closed) return;
    clearTimeout(this.#frame);
    this.#frame = undefined;
    this.#lastDrawn = performance.now();
    const { rows: height } = this.#screen;
    const width = this.columns;
    const input = viewEditor(
      this.editor.text,
      this.editor.cursor,
      width - PROMPT.length,
      Math.ceil(height / 3),
    );
    const before = this.#statusRows(width).slice(0, Math.max(1, height - input.rows.length - 3));
    const hints = lastOf(this.#hints, height - 2 - input.rows.length).map((line) =>
      this.style.dim(cutToWidth(`  ${line}`, width)),
    );
    const room = height - 1 - before.length - input.rows.length - hints.length;
    const { above, rows } = this.#activity.frame(width, Math.max(1, room));
    const prompt = this.#question ? this.style.yellow("? ") : this.style.bold(PROMPT);
    const inputRows = input.rows.map((row, index) => (index === 0 ? prompt : "  ") + row);
    // At the bottom stands what the person types: if the terminal is too low, the rest gives way.
    const top = lastOf([...rows, ...before], height - 1 - inputRows.length - hints.length).map((row) =>
      clipRow(row, width),
    );
    this.#region.draw({
      above,
      rows: [...top, ...inputRows, ...hints],
      cursor: { row: top.length + input.cursor.row, column: input.cursor.column + PROMPT.length },
    });
  }

  #statusRows(width: number): string[] {
    const queued = this.#queued.map((text) =>
      this.style.dim(cutToWidth(`  queued: ${escapeToLine(text.slice(0, 500))}`, width)),
    );
    if (this.#question) {
      return ["", ...queued, ...wrapWords(approvalPrompt(this.#question.request.name), width, 0)];
    }
    if (this.#turnStartedAt === undefined) return ["", ...queued];
    const doing = this.#activity.busy ? "working" : this.#activity.writing ? "answering" : "thinking";
    const elapsed = formatDuration(Date.now() - this.#turnStartedAt);
    return ["", this.style.dim(cutToWidth(`${doing}… ${elapsed} · esc stops`, width)), ...queued];
  }

  #schedule(): void {
    if (this.#frame || this.#closed) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#lastDrawn));
    this.#frame = setTimeout(() => this.draw(), wait);
  }
}

function lastOf(rows: readonly string[], count: number): readonly string[] {
  return count > 0 ? rows.slice(-count) : [];
}
