import type { ApprovalDialog } from "../approval/approvalDialog.js";
import { readDecision } from "../approval/approvalQuestion.js";
import type { Key } from "../input/keys.js";
import type { TerminalView } from "../screen/terminalView.js";

// A question that appears this soon after the last key ignores the keyboard: the user is still typing a message.
const TYPING_MS = 500;
const UNCLEAR = "Press one of the keys above.";
// These keys keep their meaning while a question is open: interrupt, expand, clear, suspend, switch the mode.
const PASSED_ON = ["escape", "ctrl-c", "ctrl-o", "ctrl-l", "ctrl-z", "shift-tab"];

/** The keyboard while a call waits for an answer. */
export class DialogKeys {
  readonly #view: TerminalView;
  #lastTyped = Number.NEGATIVE_INFINITY;

  constructor(view: TerminalView) {
    this.#view = view;
  }

  /** A user typed text into the line. */
  typed(): void {
    this.#lastTyped = performance.now();
  }

  /** Called when the line was sent: the next key can be an answer. */
  sent(): void {
    this.#lastTyped = Number.NEGATIVE_INFINITY;
  }

  /** Handles a key while `dialog` is open. Returns `false` for a key that is not for the question. */
  press(dialog: ApprovalDialog, key: Key): boolean {
    const name = key.type === "key" ? key.name : undefined;
    if (name === "escape" && dialog.back()) {
      this.#view.editor.take();
      return true;
    }
    if (dialog.writesReason) return this.#writeReason(dialog, key);
    if (name !== undefined && name !== "tab") return !PASSED_ON.includes(name);
    if (key.type === "paste") return true;
    if (key.type === "text" && performance.now() - this.#lastTyped < TYPING_MS) {
      this.typed();
      this.#view.typeAhead(key.text);
      return true;
    }
    if (key.type === "text" && [...key.text].length > 1) this.#answerWithWord(dialog, key.text);
    else this.#answer(dialog, key.type === "text" ? key.text : "tab");
    return true;
  }

  #writeReason(dialog: ApprovalDialog, key: Key): boolean {
    const { editor } = this.#view;
    if (key.type === "key" && key.name === "enter") {
      this.#view.answerQuestion(dialog.deny(editor.take()));
      return true;
    }
    if (key.type === "key") return editor.press(key.name);
    editor.insert(key.text);
    return true;
  }

  /** Several characters together are a word, not a key: only a clear yes or no is an answer. */
  #answerWithWord(dialog: ApprovalDialog, word: string): void {
    const decision = readDecision(word, dialog.request.name);
    if (decision === "allow") this.#answer(dialog, "y");
    else if (decision !== undefined && "deny" in decision) {
      this.#answer(dialog, "n");
      this.#view.editor.insert(word.replace(/^no?[\s,:]*/i, ""));
    } else this.#view.hint([UNCLEAR]);
  }

  #answer(dialog: ApprovalDialog, key: string): void {
    const result = dialog.press(key);
    if (result === "ignored") this.#view.hint([UNCLEAR]);
    else if (result !== "changed") this.#view.answerQuestion(result);
  }
}
