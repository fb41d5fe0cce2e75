import type { ReadStream, WriteStream } from "node:tty";
import { errorMessage } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import type { ApprovalDialog } from "../approval/approvalDialog.js";
import { NO_REASON, readDecision } from "../approval/approvalQuestion.js";
import { MODE_HELP, MODE_NAMES } from "../approval/mode.js";
import { type KeyBindings, keyOf, normalBindings, translateKey } from "../input/bindings.js";
import { commonStart, complete } from "../input/completion.js";
import { CompletionMenu } from "../input/completionMenu.js";
import { History } from "../input/history.js";
import { HistorySearch } from "../input/historySearch.js";
import { type Key, KeyDecoder } from "../input/keys.js";
import { PastedImages } from "../input/pastedImages.js";
import { Pastes } from "../input/pastes.js";
import { VimKeys } from "../input/vimKeys.js";
import { Terminal } from "../screen/terminal.js";
import { TerminalView } from "../screen/terminalView.js";
import { CHAT_EXITS } from "../system/signals.js";
import type { Style } from "../text/style.js";
import {
  ASK_BACKGROUND,
  applyTheme,
  canAskBackground,
  isLightReport,
  isLightVariable,
  type Theme,
} from "../text/theme.js";
import type { ChatController } from "./controller.js";
import type { ChatOptions, ChatPlaces } from "./types.js";

// Terminals send a sequence in one piece: an escape character that stays alone this long is the escape key.
const ESCAPE_MS = 50;
const CLEAR_SCREEN = "\x1b[H\x1b[2J";
// The prompt in the normal mode of vi.
const NORMAL_MODE = "N ";
const LEAVE_HINT = "Press Ctrl+C again to quit.";
const REWIND_HINT = "Press Esc again to go back to an earlier message.";

/** The keyboard of the chat: the effect of each key on the line, the conversation or the view. */
export class TerminalChat {
  readonly view: TerminalView;
  readonly #terminal: Terminal;
  readonly #history: History;
  readonly #images: PastedImages;
  readonly #keys = new KeyDecoder();
  readonly #pastes = new Pastes();
  readonly #completions: CompletionMenu;
  readonly #dialogKeys: DialogKeys;
  #controller: ChatController | undefined;
  #search: HistorySearch | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  #leaveArmed = false;
  #bindings: KeyBindings = {};
  #vim: VimKeys | undefined;
  #theme: { readonly name: Theme; readonly isLight: boolean } | undefined;
  #rewindArmed = false;

  constructor({ historyFile, mentions }: ChatPlaces, input: ReadStream, output: WriteStream, style: Style) {
    this.#history = new History(historyFile);
    this.#terminal = new Terminal(input, output, {
      input: (chunk) => this.#receive(chunk),
      resize: () => this.view.resized(),
      hangUp: (code) => this.#controller?.quit(code),
      leaving: () => this.view.leave(),
      resumed: () => this.view.resume(),
    });
    this.view = new TerminalView(this.#terminal, style);
    this.#dialogKeys = new DialogKeys(this.view);
    this.#images = new PastedImages(this.view, mentions.imageDirectory);
    this.#completions = new CompletionMenu(
      this.view,
      () => this.#controller?.commandItems() ?? [],
      () => this.#controller?.mentionSources() ?? [],
    );
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

  /** Leaves the terminal to something that asks in plain lines while `work` runs. */
  async suspendDuring<T>(work: () => Promise<T>): Promise<T> {
    return await this.#terminal.suspendDuring(work);
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

  /** Applies the settings: key bindings and theme. */
  configure({ keys = {}, vim = false, theme }: ChatOptions): void {
    this.#bindings = normalBindings(keys);
    this.view.bindings = this.#bindings;
    this.#vim = vim ? new VimKeys(this.view.editor) : undefined;
    if (theme === undefined) return;
    const isLight = isLightVariable(process.env.COLORFGBG);
    this.#theme = { name: theme, isLight: isLight ?? false };
    this.#applyTheme();
    if (isLight === undefined && theme !== "dark" && theme !== "light" && canAskBackground(process.env))
      this.#terminal.write(ASK_BACKGROUND);
  }

  #applyTheme(): void {
    if (!this.#theme) return;
    const { name, isLight } = this.#theme;
    applyTheme(this.view.style, name, isLight, this.#terminal.colorDepth);
    this.view.draw();
  }

  /** Handles the terminal's answer about its background colour. */
  #report(text: string): void {
    const isLight = isLightReport(text);
    if (isLight === undefined || !this.#theme || this.#theme.isLight === isLight) return;
    this.#theme = { ...this.#theme, isLight };
    this.#applyTheme();
  }

  #press(pressed: Key): void {
    if (pressed.type === "report") {
      this.#report(pressed.text);
      return;
    }
    const key = translateKey(pressed, this.#bindings);
    if (!key) return;
    this.view.hint([]);
    if (key.type !== "key" || key.name !== "ctrl-c") this.#leaveArmed = false;
    if (key.type !== "key" || key.name !== "escape") this.#rewindArmed = false;
    if (this.view.dialog && this.#dialogKeys.press(this.view.dialog, key)) return;
    if (this.view.picker && this.#pressInPicker(this.view.picker, key)) return;
    if (key.type !== "key") this.#dialogKeys.typed();
    if (this.#search && this.#pressInSearch(this.#search, key)) return;
    this.#pressInLine(key);
  }

  #pressInLine(key: Key): void {
    // Esc closes an open list first, and is an answer to a question.
    const takesEscape = this.view.menu !== undefined || this.view.dialog !== undefined;
    if (!this.#vim || (takesEscape && key.type === "key" && key.name === "escape")) {
      this.#pressPlain(key);
      return;
    }
    for (const left of this.#vim.press(key)) this.#pressPlain(left);
    if (!this.#search) this.view.prompt = this.#linePrompt;
    if (this.#vim.isNormal) this.view.menu = undefined;
  }

  /** The text before the line during a search; `undefined` for the usual prompt. */
  get #linePrompt(): string | undefined {
    return this.#vim?.isNormal ? NORMAL_MODE : undefined;
  }

  #pressPlain(key: Key): void {
    const { editor } = this.view;
    if (key.type === "report") return;
    if (key.type !== "key") {
      if (key.type === "text") {
        this.#completions.insert(key.text);
        if (editor.text === "?") this.view.showKeys();
      } else {
        this.#paste(key.text);
        this.#completions.update();
      }
      return;
    }
    if (this.#completions.press(key.name)) return;
    const action = this.#actions[key.name];
    if (action) action();
    // A key can be bound to a command.
    else if (key.name.startsWith("/")) this.#controller?.submit(key.name);
    else if (key.name === "backspace" && this.#erasePaste()) this.#completions.update();
    else if (editor.press(key.name)) this.#completions.update();
    else this.#recall(key.name);
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    enter: () => this.#enter(),
    escape: () => this.#escape(),
    rewind: () => {
      if (this.#controller?.canRewind && !this.#controller.busy) this.#controller.rewind();
    },
    "ctrl-c": () => this.#interrupt(),
    "ctrl-d": () => {
      if (this.view.editor.text === "") this.#controller?.quit(CHAT_EXITS.done);
      else this.view.editor.press("ctrl-d");
    },
    "ctrl-l": () => {
      this.#terminal.write(CLEAR_SCREEN);
      this.view.redraw();
    },
    "ctrl-o": () => this.view.expandNext(),
    "ctrl-z": () => this.#terminal.suspend(),
    "ctrl-r": () => this.#startSearch(),
    "ctrl-g": () => void this.#editOutside(),
    "ctrl-v": () => void this.#images.paste(),
    "ctrl-b": () => {
      // On a line with text the key moves the cursor, as in shells.
      if (this.view.editor.text !== "" || !this.#controller?.busy) this.view.editor.press("ctrl-b");
      else void this.#controller.moveToBackground();
    },
    "shift-tab": () => this.#switchMode(),
    tab: () => void this.#complete(),
  };

  /** The new mode is explained in place of the status row: a line for each switch would fill the conversation. */
  #switchMode(): void {
    const mode = this.#controller?.cycleMode();
    if (!mode) return;
    const key = keyOf("next-mode", this.#bindings)?.toLowerCase() ?? "/mode";
    this.view.hint([`${MODE_NAMES[mode]} (${key}) – ${MODE_HELP[mode]}`]);
  }

  #pressInPicker(picker: OpenList, key: Key): boolean {
    if (this.#dialogKeys.pressEarly(picker, key)) return true;
    const { menu, editor } = this.view;
    const name = key.type === "key" ? key.name : undefined;
    if (name === "up" || name === "ctrl-p") menu?.move(-1);
    else if (name === "down" || name === "ctrl-n") menu?.move(1);
    else if (name === "enter" || name === "tab") {
      const chosen = menu?.selected?.value ?? (picker.takesText ? editor.text : undefined);
      if (chosen !== undefined) {
        this.#dialogKeys.sent();
        picker.choose(chosen);
      }
    } else if (name === "escape" || name === "ctrl-c") picker.choose(undefined);
    else if (name === "ctrl-d") return false;
    else {
      if (key.type === "key") editor.press(key.name);
      else {
        this.#dialogKeys.typed();
        editor.insert(key.text);
      }
      this.view.filterPicker();
    }
    return true;
  }

  #startSearch(): void {
    this.#search = new HistorySearch(this.#history, this.view.editor.text);
    this.view.menu = undefined;
    this.view.prompt = this.#search.prompt;
  }

  #pressInSearch(search: HistorySearch, key: Key): boolean {
    const name = key.type === "key" ? key.name : undefined;
    if (key.type !== "key") search.type(key.text);
    else if (name === "ctrl-r") search.older();
    else if (name === "backspace") search.erase();
    else {
      this.#search = undefined;
      this.view.prompt = this.#linePrompt;
      if (name === "ctrl-c") {
        this.view.editor.set(search.draft);
        return true;
      }
      // Escape and Tab keep the found entry on the line. Any other key has its usual effect on it: Enter sends it.
      return name === "escape" || name === "tab";
    }
    this.view.editor.set(search.text);
    this.view.prompt = search.prompt;
    return true;
  }

  #enter(): void {
    const { editor } = this.view;
    this.#dialogKeys.sent();
    if (editor.text[editor.cursor - 1] === "\\") {
      editor.replace(editor.cursor - 1, editor.cursor, "\n");
      return;
    }
    const shown = editor.take();
    this.#vim?.reset();
    this.view.menu = undefined;
    if (shown === "?") {
      this.#controller?.submit("/help");
      return;
    }
    const text = this.#pastes.expand(shown);
    if (text.trim() !== "") this.#history.add(text);
    this.#controller?.submit(text, shown);
  }

  /** Ctrl-C interrupts the answer, then clears the line, then quits. */
  #interrupt(): void {
    const controller = this.#controller;
    if (!controller) return;
    if (controller.stopping || (this.#leaveArmed && !controller.busy))
      controller.quit(CHAT_EXITS.interrupted);
    else if (controller.busy) controller.stopTurn();
    else if (this.view.editor.take() === "") {
      this.#leaveArmed = true;
      this.view.hint([LEAVE_HINT]);
    } else this.#completions.update();
  }

  /**
   * Esc interrupts the answer, else answers no to a background agent. On an empty line without either, pressing it
   * twice opens the earlier messages.
   */
  #escape(): void {
    const controller = this.#controller;
    if (!controller) return;
    if (controller.busy) controller.stopTurn();
    else if (this.view.dialog) this.view.answerQuestion({ deny: NO_REASON });
    else if (this.view.editor.text === "?") this.view.editor.set("");
    else if (this.view.editor.text !== "" || !controller.canRewind) return;
    else if (this.#rewindArmed) {
      this.#rewindArmed = false;
      controller.rewind();
    } else {
      this.#rewindArmed = true;
      this.view.hint([REWIND_HINT]);
    }
  }

  #paste(text: string): void {
    if (!this.#images.take(text)) this.view.editor.insert(this.#pastes.collapse(text));
  }

  #erasePaste(): boolean {
    const { editor } = this.view;
    const token = this.#pastes.endingAt(editor.text, editor.cursor);
    if (token === undefined) return false;
    editor.replace(editor.cursor - token.length, editor.cursor, "");
    return true;
  }

  #recall(key: string): void {
    const { editor } = this.view;
    // A queued message is edited in the queue, not sent a second time from the history.
    const queued = key === "up" && editor.text === "" ? this.#controller?.takeBackQueued() : undefined;
    if (queued !== undefined) {
      editor.set(queued);
      return;
    }
    const entry =
      key === "up" ? this.#history.older(editor.text) : key === "down" ? this.#history.newer() : undefined;
    if (entry !== undefined) editor.set(entry);
  }

  async #editOutside(): Promise<void> {
    const { editor } = this.view;
    try {
      const { editExternally, editorCommand } = await import("../input/externalEditor.js");
      await this.#terminal.suspendDuring(async () => {
        editor.set(await editExternally(this.#pastes.expand(editor.text), editorCommand()));
      });
    } catch (error) {
      this.view.hint([escapeToLine(errorMessage(error))]);
    }
  }

  async #complete(): Promise<void> {
    const { editor } = this.view;
    const { text, cursor } = editor;
    const controller = this.#controller;
    if (!controller) return;
    const { start, candidates } = await complete(text, cursor, (before) => controller.complete(before));
    // The user continued writing while a directory was read.
    if (editor.text !== text || editor.cursor !== cursor || candidates.length === 0) return;
    const [only = ""] = candidates;
    const common = commonStart(candidates);
    const unique = candidates.length === 1;
    editor.replace(start, cursor, unique && !only.endsWith("/") ? `${only} ` : common);
    if (!unique) this.view.hint(candidates.map(escapeToLine));
    this.view.draw();
  }
}

type OpenList = NonNullable<TerminalView["picker"]>;

// A question or a list that appears this soon after the last key ignores the keyboard: the user is still typing a
// message.
const TYPING_MS = 500;
const UNCLEAR = "Press one of the keys above.";
// These keys keep their meaning while a question is open: interrupt, expand, clear, suspend, switch the mode.
const PASSED_ON = ["escape", "ctrl-c", "ctrl-o", "ctrl-l", "ctrl-z", "shift-tab"];
const PASSED_ON_IN_REASON = [...PASSED_ON, "ctrl-g"];

/** The keyboard while a call waits for an answer, and when a list has just opened. */
class DialogKeys {
  readonly #view: TerminalView;
  #lastTyped = Number.NEGATIVE_INFINITY;
  /** The list that opened while the user was typing, or before, and gets the keys now. */
  #seenList: OpenList | undefined;

  constructor(view: TerminalView) {
    this.#view = view;
  }

  /** A user typed text that is not an answer: into the line, a search, or as a command of vi. */
  typed(): void {
    this.#lastTyped = performance.now();
  }

  /** Called when the line was sent, or an item chosen: the next key can be an answer. */
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
    if (name === "enter") this.#view.hint([UNCLEAR]);
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

  /**
   * Handles a key that was meant for the line, because `list` opened while the user was typing: text is kept for the
   * line, and Enter neither sends it nor chooses. Returns `false` for a key that is for the list.
   */
  pressEarly(list: OpenList, key: Key): boolean {
    if (list === this.#seenList) return false;
    const now = performance.now();
    const isTyping = now - this.#lastTyped < TYPING_MS;
    if (key.type === "key") {
      const hadDraft = list.draft !== "" && now - list.openedAt < TYPING_MS;
      return (key.name === "enter" || key.name === "tab") && (isTyping || hadDraft);
    }
    if (!isTyping) {
      this.#seenList = list;
      return false;
    }
    this.typed();
    this.#view.typeAhead(key.text);
    return true;
  }

  #writeReason(dialog: ApprovalDialog, key: Key): boolean {
    const { editor } = this.#view;
    if (key.type === "key" && key.name === "enter") {
      this.#view.answerQuestion(dialog.deny(editor.take()));
      return true;
    }
    // Any other key would change the reason, such as Up, which recalls earlier input.
    if (key.type === "key") return editor.press(key.name) || !PASSED_ON_IN_REASON.includes(key.name);
    editor.insert(key.text);
    return true;
  }

  /** Several characters together are a word, not a key: only a clear yes or no is an answer. */
  #answerWithWord(dialog: ApprovalDialog, word: string): void {
    const decision = readDecision(word, dialog.request.name);
    if (decision === "allow") this.#answer(dialog, "y");
    else if (decision !== undefined && "deny" in decision) {
      this.#answer(dialog, "n");
      if (dialog.writesReason && decision.deny !== NO_REASON) this.#view.editor.insert(decision.deny);
    } else this.#view.hint([UNCLEAR]);
  }

  #answer(dialog: ApprovalDialog, key: string): void {
    const result = dialog.press(key);
    if (result === "ignored") this.#view.hint([UNCLEAR]);
    else if (result !== "changed") this.#view.answerQuestion(result);
  }
}
