import type { ReadStream, WriteStream } from "node:tty";
import { escapeToLine } from "@agent/core/toolkit";
import { EXIT } from "../process/exitCodes.js";
import type { ChatController } from "./controller.js";
import { commonStart, complete } from "./input/completion.js";
import { History } from "./input/history.js";
import { type Key, KeyDecoder } from "./input/keys.js";
import { Terminal } from "./terminal.js";
import { TerminalView } from "./terminalView.js";

// A terminal sends a sequence at once; an escape that stays alone this long is the key.
const ESCAPE_MS = 50;
const CLEAR_SCREEN = "\x1b[H\x1b[2J";
const LEAVE_HINT = "Ctrl-C again leaves.";

/** The keyboard's side of the chat: what each key does to the line, the conversation or the view. */
export class TerminalChat {
  readonly view: TerminalView;
  readonly #terminal: Terminal;
  readonly #history: History;
  readonly #keys = new KeyDecoder();
  #controller: ChatController | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  #leaveArmed = false;

  constructor(historyFile: string | undefined, input: ReadStream, output: WriteStream) {
    this.#history = new History(historyFile);
    this.#terminal = new Terminal(input, output, {
      input: (chunk) => this.#receive(chunk),
      resize: () => this.view.resized(),
      hangUp: (code) => this.#controller?.quit(code),
      leaving: () => this.view.hide(),
      resumed: () => this.view.redraw(),
    });
    this.view = new TerminalView(this.#terminal);
  }

  open(controller: ChatController): void {
    this.#controller = controller;
    this.#terminal.open();
    this.view.draw();
  }

  close(): void {
    clearTimeout(this.#escapeTimer);
    this.view.close();
    this.#terminal.close();
  }

  #receive(chunk: Buffer): void {
    clearTimeout(this.#escapeTimer);
    for (const key of this.#keys.write(chunk)) this.#press(key);
    if (this.#keys.pending) {
      this.#escapeTimer = setTimeout(() => {
        for (const key of this.#keys.flush()) this.#press(key);
        this.view.draw();
      }, ESCAPE_MS);
    }
    this.view.draw();
  }

  #press(key: Key): void {
    const { editor } = this.view;
    this.view.hint([]);
    if (key.type !== "key" || key.name !== "ctrl-c") this.#leaveArmed = false;
    if (key.type !== "key") {
      editor.insert(key.text);
      return;
    }
    const action = this.#actions[key.name];
    if (action) action();
    else if (!editor.press(key.name) && !this.view.asking) this.#recall(key.name);
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    enter: () => this.#enter(),
    escape: () => this.#controller?.stopTurn(),
    "ctrl-c": () => this.#interrupt(),
    "ctrl-d": () => {
      if (this.view.editor.text === "" && !this.view.asking) this.#controller?.quit(EXIT.done);
      else this.view.editor.press("ctrl-d");
    },
    "ctrl-l": () => {
      this.#terminal.write(CLEAR_SCREEN);
      this.view.redraw();
    },
    "ctrl-o": () => this.view.expandNext(),
    "ctrl-z": () => this.#terminal.suspend(),
    tab: () => void this.#complete(),
  };

  #enter(): void {
    const { editor } = this.view;
    if (this.view.asking) {
      this.view.answerQuestion();
    } else if (editor.text[editor.cursor - 1] === "\\") {
      editor.replace(editor.cursor - 1, editor.cursor, "\n");
    } else {
      const text = editor.take();
      if (text.trim() !== "") this.#history.add(text);
      this.#controller?.submit(text);
    }
  }

  /** Ctrl-C stops the answer, then clears the line, then leaves. */
  #interrupt(): void {
    const controller = this.#controller;
    if (!controller) return;
    if (controller.stopping || (this.#leaveArmed && !controller.busy)) controller.quit(EXIT.interrupted);
    else if (controller.busy) controller.stopTurn();
    else if (this.view.editor.take() === "") {
      this.#leaveArmed = true;
      this.view.hint([LEAVE_HINT]);
    }
  }

  #recall(key: string): void {
    const { editor } = this.view;
    const entry =
      key === "up" ? this.#history.older(editor.text) : key === "down" ? this.#history.newer() : undefined;
    if (entry !== undefined) editor.set(entry);
  }

  async #complete(): Promise<void> {
    const { editor } = this.view;
    const { text, cursor } = editor;
    const controller = this.#controller;
    if (!controller || this.view.asking) return;
    const { start, candidates } = await complete(text, cursor, (before) => controller.complete(before));
    // The person went on writing while a directory was read.
    if (editor.text !== text || editor.cursor !== cursor || candidates.length === 0) return;
    const [only = ""] = candidates;
    const common = commonStart(candidates);
    const unique = candidates.length === 1;
    editor.replace(start, cursor, unique && !only.endsWith("/") ? `${only} ` : common);
    if (!unique) this.view.hint(candidates.map(escapeToLine));
    this.view.draw();
  }
}
