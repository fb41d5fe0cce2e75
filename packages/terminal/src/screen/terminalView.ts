import type { AgentEvent, ApprovalRequest } from "@agent/core";
import type { AlwaysChoice, UserDecision } from "@agent/core/host";
import { onAbort } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { ApprovalDialog } from "../approval/approvalDialog.js";
import { approvalRows, decisionText } from "../approval/approvalQuestion.js";
import type { ChatView, PickOptions } from "../chat/view.js";
import { type KeyBindings, keyOf } from "../input/bindings.js";
import { LineEditor } from "../input/editor.js";
import { Menu, type MenuItem, Picker } from "../input/menu.js";
import { safeProse } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { wrapWords } from "../text/width.js";
import { PROMPT } from "./firstPrompt.js";
import { LiveScreen, type Screen } from "./liveScreen.js";
import { layOut, type ScreenParts } from "./screenLayout.js";
import type { Status, StatusLook } from "./statusRow.js";
import { type NotifyBy, TerminalSignals } from "./terminalSignals.js";

type KeyHelp = readonly (readonly [keys: string, does: string])[];

/** The help text about the keys of the chat on a terminal. An action without a key is left out. */
function keyHelp(bindings: KeyBindings): KeyHelp {
  const row = (action: string, does: string): KeyHelp => {
    const key = keyOf(action, bindings);
    return key === undefined ? [] : [[key, does]];
  };
  const also = (action: string, does: string): string =>
    row(action, does)
      .map(([key]) => `; ${key} ${does}`)
      .join("");
  return [
    ["Enter", "send; while an answer is written, steer it"],
    ["Alt+Enter, Ctrl+J", "start a new line; \\ at the end of a line does the same"],
    ["Up, Down", `recall earlier input${also("search-history", "searches it")}`],
    ["Ctrl+_", `undo an edit of the line${also("open-editor", "opens it in $EDITOR")}`],
    ["@file, @a.ts:10-40", "attach a file, or some of its lines; Tab completes"],
    ["!command", "run a command and tell the model what it printed"],
    ...row("next-mode", "switch the mode: plan, ask, accept edits, auto"),
    ["Esc, Ctrl+C", "stop the answer; Ctrl+C twice or Ctrl+D quits"],
    ["Esc Esc", "on an empty line: go back to an earlier message, with or without the files"],
    ...row("background", "move a running command to the background"),
    ["?", "on an empty line: show these keys"],
    ...row("expand", "show a shortened call in full, then the one before; /expand lists them"),
  ];
}

interface Question {
  readonly dialog: ApprovalDialog;
  readonly draft: string;
  readonly answer: (decision: UserDecision) => void;
}

/**
 * The chat on a terminal: the conversation moves to the scrollback; the current turn and the input line are drawn at
 * the bottom. Frames are drawn at most about thirty times a second.
 */
export class TerminalView implements ChatView {
  readonly style: Style;
  readonly editor = new LineEditor();
  readonly #live: LiveScreen;
  readonly #signals: TerminalSignals;
  #bindings: KeyBindings = {};
  #question: Question | undefined;
  #picker: Picker | undefined;
  #menu: Menu | undefined;
  /** Text before the line, such as that of a search. */
  #prompt: string | undefined;
  #hints: readonly string[] = [];
  #queued: readonly string[] = [];
  #status: Status | undefined;
  #look: StatusLook = {};
  #turn: { readonly doing: string | undefined; readonly startedAt: number } | undefined;

  constructor(screen: Screen, style: Style) {
    this.style = style;
    this.#signals = new TerminalSignals((text) => screen.write(text));
    this.#live = new LiveScreen(screen, { style }, (activity, size) =>
      layOut(this.#parts(), activity, size, style),
    );
    this.bindings = {};
  }

  /** The keys that hints and the help name. */
  set bindings(bindings: KeyBindings) {
    this.#bindings = bindings;
    const key = keyOf("expand", bindings)?.toLowerCase();
    this.#live.activity.expandHint = key && `${key} expands`;
  }

  get keys(): KeyHelp {
    return keyHelp(this.#bindings);
  }

  get columns(): number {
    return this.#live.columns;
  }

  print(lines: readonly string[], indent?: number): void {
    this.#live.activity.print(lines, indent);
    this.#live.request();
  }

  event(event: AgentEvent): void {
    this.#live.activity.event(event);
    this.#live.request();
  }

  echo(input: string): void {
    const [first = "", ...rest] = safeProse(input).split("\n");
    const lines = [PROMPT + first, ...rest.map((line) => `  ${line}`)];
    this.print(
      lines.map((line) => this.style.cyan(this.style.bold(line))),
      PROMPT.length,
    );
  }

  turnStarted(doing?: string): void {
    this.#turn = { doing, startedAt: Date.now() };
    this.#live.tick();
  }

  turnEnded(problem: string | undefined): void {
    this.#live.rest();
    this.#turn = undefined;
    this.#live.activity.end();
    if (problem !== undefined)
      this.#live.activity.print(problem.split("\n").map((line) => this.style.red(line)));
    this.#live.request();
  }

  queued(messages: readonly string[]): void {
    this.#queued = [...messages];
    this.#live.request();
  }

  status(status: Status, look: StatusLook = {}): void {
    this.#status = status;
    this.#look = look;
    this.#live.request();
  }

  notify(text: string, by: NotifyBy): void {
    this.#signals.notify(text, by);
  }

  title(text: string): void {
    this.#signals.title(text);
  }

  progress(isWorking: boolean): void {
    this.#signals.progress(isWorking);
  }

  copy(text: string): string | undefined {
    return this.#signals.copy(text) ? undefined : "It is too long for the clipboard of a terminal (75 KB).";
  }

  /** Called when another program takes over the terminal. */
  leave(): void {
    this.#live.leave();
    this.#signals.leave();
  }

  /** Called when the terminal is available again. */
  resume(): void {
    this.#signals.resume();
    this.#live.resume();
  }

  idle(): void {}

  giveBack(text: string): void {
    this.editor.set(this.editor.text === "" ? text : `${text}\n${this.editor.text}`);
    this.#live.request();
  }

  ask(request: ApprovalRequest, always: readonly AlwaysChoice[]): Promise<UserDecision> {
    return new Promise((resolve) => {
      const answer = (decision: UserDecision): void => {
        release();
        resolve(decision);
        if (this.#question?.dialog.request !== request) return;
        this.editor.set(this.#question.draft);
        this.#question = undefined;
        // The question has replaced the list of an open picker.
        this.filterPicker();
        this.#live.activity.answered();
        this.#live.request();
      };
      const release = onAbort(request.signal, () => answer({ deny: "the call was stopped." }));
      this.#menu = undefined;
      this.#question = { dialog: new ApprovalDialog(request, always), draft: this.editor.take(), answer };
      const rows = approvalRows(request, this.style, this.columns);
      this.#live.activity.ask(request.id, rows, request.preview?.changes);
      this.#live.request();
    });
  }

  question(text: string, lines: readonly string[]): void {
    this.#live.activity.question(text, lines);
    this.#live.request();
  }

  answered(text: string): void {
    this.#live.activity.answered(`? ${text}`);
    this.#live.request();
  }

  /** The open question, if there is one. */
  get dialog(): ApprovalDialog | undefined {
    return this.#question?.dialog;
  }

  /** Adds text that was typed just after a question or a list appeared to the line the user was writing. */
  typeAhead(text: string): void {
    if (this.#question) this.#question = { ...this.#question, draft: this.#question.draft + text };
    else if (this.#picker) this.#picker.draft += text;
  }

  answerQuestion(decision: UserDecision): void {
    this.#live.activity.answered(`? ${escapeToLine(decisionText(decision))}`);
    this.#question?.answer(decision);
  }

  pick(
    title: string,
    items: readonly MenuItem[],
    { takesText = false, signal }: PickOptions = {},
  ): Promise<string | undefined> {
    // Only one list is shown: the other one was opened by a command, and chooses nothing.
    this.#picker?.choose(undefined);
    return new Promise((resolve) => {
      const release = onAbort(signal, () => choose(undefined));
      const choose = (value: string | undefined): void => {
        release();
        this.#picker = undefined;
        this.#menu = undefined;
        this.editor.set(picker.draft);
        this.#live.request();
        resolve(value);
      };
      const picker = new Picker(title, items, choose, takesText);
      picker.draft = this.editor.take();
      this.#picker = picker;
      this.filterPicker();
    });
  }

  /** The open list, if there is one, and how to close it with a choice. */
  get picker(): Pick<Picker, "choose" | "takesText" | "draft" | "openedAt"> | undefined {
    return this.#picker;
  }

  /** Shows the items that match the text on the line. */
  filterPicker(): void {
    if (!this.#picker) return;
    this.menu = new Menu(this.#picker.fitting(this.editor.text));
  }

  get menu(): Menu | undefined {
    return this.#menu;
  }

  set menu(menu: Menu | undefined) {
    // A filtered list reports when nothing matches; free text needs no list.
    const isShown = menu !== undefined && (menu.items.length > 0 || this.#picker?.takesText === false);
    this.#menu = isShown ? menu : undefined;
    this.#live.request();
  }

  /** Replaces the prompt with text, or restores it. The text must be safe to display. */
  set prompt(words: string | undefined) {
    this.#prompt = words;
    this.#live.request();
  }

  expandNext(): void {
    const isLast = this.#live.activity.expandable.length > 0;
    if (!this.#live.activity.expand()) {
      const key = keyOf("expand", this.#bindings) ?? "The key";
      this.hint([isLast ? `That was the oldest one. ${key} starts over.` : "Nothing was shortened."]);
    }
    this.#live.request();
  }

  get expandable(): readonly string[] {
    return this.#live.activity.expandable;
  }

  expand(place: number): void {
    this.#live.activity.expand(place);
    this.#live.request();
  }

  /** Shows lines below the input line until the next key. They must be safe to display. */
  hint(lines: readonly string[]): void {
    this.#hints = lines.map(this.style.dim);
    this.#live.request();
  }

  /** Shows the key help below the input line until the next key. */
  showKeys(): void {
    const { dim } = this.style;
    const help = this.keys;
    const widest = Math.max(...help.map(([keys]) => keys.length));
    const isNarrow = this.columns < 3 * widest;
    this.#hints = help.flatMap(([keys, does]) =>
      wrapWords(
        `${isNarrow ? keys : keys.padEnd(widest)}  ${dim(does)}`,
        this.columns - 2,
        isNarrow ? 2 : widest + 2,
      ),
    );
    this.#live.request();
  }

  /** Called when the terminal was resized. */
  resized(): void {
    this.#live.resized();
  }

  /** Draws on an empty row, because another program has written to the terminal: erases nothing. */
  redraw(): void {
    this.#live.redraw();
  }

  /** Erases the live rows; the conversation stays. `draw` restores them. */
  hide(): void {
    this.#live.hide();
  }

  /** Hides permanently. */
  close(): void {
    this.#live.close();
  }

  draw(): void {
    this.#live.draw();
  }

  #parts(): ScreenParts {
    return {
      editor: this.editor,
      prompt: this.#prompt,
      dialog: this.dialog,
      picker: this.#picker,
      turn: this.#turn && {
        doing: this.#turn.doing ?? this.#live.activity.doing,
        startedAt: this.#live.activity.showsTime ? undefined : this.#turn.startedAt,
      },
      queued: this.#queued,
      menu: this.#menu,
      hints: this.#hints,
      status: this.#status,
      look: this.#look,
      modeKey: keyOf("next-mode", this.#bindings)?.toLowerCase(),
    };
  }
}
