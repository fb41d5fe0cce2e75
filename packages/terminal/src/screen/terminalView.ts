import type { AgentEvent, ApprovalRequest } from "@agent/core";
import { escapeInvisible, onAbort } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { ApprovalDialog } from "../approval/approvalDialog.js";
import { approvalRows, decisionText } from "../approval/approvalQuestion.js";
import type { AlwaysChoice, PersonDecision } from "../approval/decision.js";
import type { ChatView, PickOptions } from "../chat/view.js";
import { Activity } from "../display/activity.js";
import { Editor } from "../input/editor.js";
import { Menu, type MenuItem } from "../input/menu.js";
import { Picker } from "../input/picker.js";
import type { Style } from "../text/style.js";
import { PROMPT } from "./firstPrompt.js";
import { Frames } from "./frames.js";
import { LiveRegion } from "./liveRegion.js";
import type { Screen } from "./screen.js";
import { layOut } from "./screenLayout.js";
import type { Status } from "./statusRow.js";
import { TERMINAL_KEYS } from "./terminalKeys.js";

const BELL = "\x07";

interface Question {
  readonly dialog: ApprovalDialog;
  readonly draft: string;
  readonly answer: (decision: PersonDecision) => void;
}

/**
 * The chat on a terminal: the conversation goes into the scrollback; the running turn and the input line are drawn at
 * the bottom. Frames are drawn at most about thirty times a second.
 */
export class TerminalView implements ChatView {
  readonly style: Style;
  readonly keys = TERMINAL_KEYS;
  readonly editor = new Editor();
  readonly #screen: Screen;
  readonly #region: LiveRegion;
  readonly #activity: Activity;
  readonly #frames = new Frames(
    () => this.#draw(),
    () => this.#screen.refreshSize(),
  );
  #question: Question | undefined;
  #picker: Picker | undefined;
  #menu: Menu | undefined;
  /** Words in front of the line, such as those of a search. */
  #prompt: string | undefined;
  #hints: readonly string[] = [];
  #queued: readonly string[] = [];
  #status: Status | undefined;
  #turn: { readonly doing: string | undefined; readonly startedAt: number } | undefined;
  /** How many of the drawn rows, from the first, are the answer; 0 unless the rows hold all of it. */
  #answerRows = 0;

  constructor(screen: Screen, style: Style) {
    this.#screen = screen;
    this.style = style;
    this.#region = new LiveRegion((text) => screen.write(text));
    this.#activity = new Activity({ style, now: Date.now, expandHint: "ctrl+o expands" });
  }

  get columns(): number {
    return this.#screen.columns - 1;
  }

  print(lines: readonly string[], indent?: number): void {
    this.#activity.print(lines, indent);
    this.#frames.request();
  }

  event(event: AgentEvent): void {
    this.#activity.event(event);
    this.#frames.request();
  }

  echo(input: string): void {
    const [first = "", ...rest] = escapeInvisible(input).split("\n");
    const lines = [PROMPT + first, ...rest.map((line) => `  ${line}`)];
    this.print(
      lines.map((line) => this.style.bold(line)),
      PROMPT.length,
    );
  }

  turnStarted(doing?: string): void {
    this.#turn = { doing, startedAt: Date.now() };
    this.#frames.tick();
  }

  turnEnded(problem: string | undefined): void {
    this.#frames.rest();
    this.#turn = undefined;
    this.#activity.end();
    if (problem !== undefined) this.#activity.print(problem.split("\n").map((line) => this.style.red(line)));
    this.#frames.request();
  }

  queued(messages: readonly string[]): void {
    this.#queued = [...messages];
    this.#frames.request();
  }

  status(status: Status): void {
    this.#status = status;
    this.#frames.request();
  }

  notify(): void {
    this.#screen.write(BELL);
  }

  idle(): void {}

  giveBack(text: string): void {
    this.editor.set(this.editor.text === "" ? text : `${text}\n${this.editor.text}`);
    this.#frames.request();
  }

  ask(request: ApprovalRequest, always: readonly AlwaysChoice[]): Promise<PersonDecision> {
    return new Promise((resolve) => {
      const close = (): void => {
        if (this.#question?.dialog.request !== request) return;
        this.editor.set(this.#question.draft);
        this.#question = undefined;
        this.#activity.answered();
        request.signal.removeEventListener("abort", close);
        this.#frames.request();
      };
      const answer = (decision: PersonDecision): void => {
        close();
        resolve(decision);
      };
      request.signal.addEventListener("abort", close, { once: true });
      this.#menu = undefined;
      this.#question = { dialog: new ApprovalDialog(request, always), draft: this.editor.take(), answer };
      const rows = approvalRows(request, this.style, this.columns);
      this.#activity.ask(request.id, rows, request.preview?.changes);
      this.#frames.request();
    });
  }

  /** The open question, if there is one. */
  get dialog(): ApprovalDialog | undefined {
    return this.#question?.dialog;
  }

  /** Adds text that was typed just after the question appeared to the line the user was writing. */
  typeAhead(text: string): void {
    if (this.#question) this.#question = { ...this.#question, draft: this.#question.draft + text };
  }

  answerQuestion(decision: PersonDecision): void {
    this.#activity.answered(`? ${escapeToLine(decisionText(decision))}`);
    this.#question?.answer(decision);
  }

  pick(
    title: string,
    items: readonly MenuItem[],
    { takesText = false, signal }: PickOptions = {},
  ): Promise<string | undefined> {
    return new Promise((resolve) => {
      const draft = this.editor.take();
      const release = onAbort(signal, () => choose(undefined));
      const choose = (value: string | undefined): void => {
        release();
        this.#picker = undefined;
        this.#menu = undefined;
        this.editor.set(draft);
        this.#frames.request();
        resolve(value);
      };
      this.#picker = new Picker(title, items, choose, takesText);
      this.filterPicker();
    });
  }

  /** The open list, if there is one, and how to close it with a choice. */
  get picker(): Pick<Picker, "choose" | "takesText"> | undefined {
    return this.#picker;
  }

  /** Shows what fits the words on the line. */
  filterPicker(): void {
    if (!this.#picker) return;
    this.menu = new Menu(this.#picker.fitting(this.editor.text));
  }

  get menu(): Menu | undefined {
    return this.#menu;
  }

  set menu(menu: Menu | undefined) {
    // A list that is filtered says when nothing fits; text that is an answer needs no list.
    const isShown = menu !== undefined && (menu.items.length > 0 || this.#picker?.takesText === false);
    this.#menu = isShown ? menu : undefined;
    this.#frames.request();
  }

  /** Replaces the prompt by words, or restores it. The words must be safe to show. */
  set prompt(words: string | undefined) {
    this.#prompt = words;
    this.#frames.request();
  }

  expandNext(): void {
    const isLast = this.#activity.expandable.length > 0;
    if (!this.#activity.expand())
      this.hint([isLast ? "That was the oldest. Ctrl+O begins anew." : "Nothing was shortened."]);
    this.#frames.request();
  }

  get expandable(): readonly string[] {
    return this.#activity.expandable;
  }

  expand(place: number): void {
    this.#activity.expand(place);
    this.#frames.request();
  }

  /** Shows lines below the input line until the next key. They must be safe to show. */
  hint(lines: readonly string[]): void {
    this.#hints = lines;
    this.#frames.request();
  }

  /** The terminal changed its size. */
  resized(): void {
    this.#frames.resized(() => {
      if (this.#answerRows > 0) this.#activity.keepShown();
      this.#region.resized(this.#screen.columns, this.#answerRows);
    });
  }

  /** Draws on an empty row, because another program has written to the terminal: erases nothing. */
  redraw(): void {
    this.#region.forget();
    this.#answerRows = 0;
    this.draw();
  }

  /** Erases the live rows; the conversation stays. `draw` brings them back. */
  hide(): void {
    this.#frames.settle();
    const { above } = this.#activity.frame(this.columns, this.#screen.rows);
    this.#answerRows = 0;
    this.#region.draw({ above, rows: [] });
    this.#region.clear();
  }

  /** Hides permanently. */
  close(): void {
    this.#frames.close();
    this.#activity.end();
    this.hide();
  }

  draw(): void {
    this.#frames.draw();
  }

  #draw(): void {
    const turn = this.#turn && { ...this.#turn, doing: this.#turn.doing ?? this.#activity.doing };
    const { answerRows, ...frame } = layOut(
      {
        editor: this.editor,
        prompt: this.#prompt,
        dialog: this.dialog,
        picker: this.#picker,
        turn,
        queued: this.#queued,
        menu: this.#menu,
        hints: this.#hints,
        status: this.#status,
      },
      (width, room) => this.#activity.frame(width, room),
      { width: this.columns, height: this.#screen.rows },
      this.style,
    );
    this.#answerRows = answerRows;
    this.#region.draw(frame);
  }
}
