import { Menu, type MenuItem } from "../menu.js";
import type { Editor } from "./editor.js";
import { FileIndex } from "./fileIndex.js";
import { bestMatches, toCandidate } from "./fuzzy.js";

const MOST_FILES = 50;
const FILE_WORD = /(?<=^|\s)@([^\s"]*)$/;
const COMMAND = /^\/[\w:-]*$/;

/** Where a completion is shown and what it changes. */
interface MenuPlace {
  readonly editor: Editor;
  menu: Menu | undefined;
}

/** The list that opens while a person types: commands after a slash, files after an @. */
export class CompletionMenu {
  readonly #place: MenuPlace;
  readonly #commands: () => readonly MenuItem[];
  readonly #files = new FileIndex(process.cwd());
  #closedFor: string | undefined;

  constructor(place: MenuPlace, commands: () => readonly MenuItem[]) {
    this.#place = place;
    this.#commands = commands;
  }

  /** The line has changed: shows what fits now. */
  update(): void {
    const { editor } = this.#place;
    if (editor.text !== this.#closedFor) this.#closedFor = undefined;
    else return;
    const before = editor.text.slice(0, editor.cursor);
    if (COMMAND.test(before) && editor.cursor === editor.text.length) {
      this.#place.menu = new Menu(this.#fittingCommands(before));
      return;
    }
    const word = FILE_WORD.exec(before)?.[1];
    if (word === undefined) {
      this.#place.menu = undefined;
      return;
    }
    this.#showFiles(word);
    // Read in the background: what is new shows as soon as it is known.
    void this.#files.refresh().then(() => {
      const now = FILE_WORD.exec(editor.text.slice(0, editor.cursor))?.[1];
      if (now !== undefined && this.#closedFor === undefined) this.#showFiles(now);
    });
  }

  /** Takes a key if the list is open and the key is for it. */
  press(name: string): boolean {
    const { menu } = this.#place;
    if (!menu?.selected) return false;
    switch (name) {
      case "up":
      case "ctrl-p":
        menu.move(-1);
        return true;
      case "down":
      case "ctrl-n":
        menu.move(1);
        return true;
      case "escape":
        this.#close();
        return true;
      case "tab":
        this.#take(menu.selected.value);
        return true;
      case "enter":
        return this.#enter(menu.selected.value);
      default:
        return false;
    }
  }

  /** Enter completes; what is complete already, or a command that takes nothing more, is sent as well. */
  #enter(value: string): boolean {
    const { editor } = this.#place;
    if (!value.startsWith("/")) {
      const typed = FILE_WORD.exec(editor.text.slice(0, editor.cursor))?.[1];
      if (typed === value && !value.endsWith("/")) {
        this.#place.menu = undefined;
        return false;
      }
      this.#take(value);
      return true;
    }
    const isTyped = this.#commands().some((item) => item.value.trim() === editor.text);
    if (!isTyped) editor.set(value);
    this.#place.menu = undefined;
    // With an argument to follow, the person goes on writing.
    return !isTyped && value.endsWith(" ");
  }

  #take(value: string): void {
    const { editor } = this.#place;
    if (value.startsWith("/")) editor.set(value.endsWith(" ") ? value : `${value} `);
    else {
      const word = FILE_WORD.exec(editor.text.slice(0, editor.cursor))?.[0] ?? "";
      const name = /\s/.test(value) ? `@"${value}"` : `@${value}`;
      editor.replace(editor.cursor - word.length, editor.cursor, value.endsWith("/") ? name : `${name} `);
    }
    this.#place.menu = undefined;
    if (value.endsWith("/")) this.update();
  }

  #close(): void {
    this.#closedFor = this.#place.editor.text;
    this.#place.menu = undefined;
  }

  #showFiles(word: string): void {
    const found = this.#files.find(word, MOST_FILES);
    this.#place.menu = new Menu(found.map((path) => ({ value: path, label: path })));
  }

  #fittingCommands(typed: string): MenuItem[] {
    const items = this.#commands();
    const starting = items.filter(({ value }) => value.startsWith(typed));
    if (starting.length > 0 || typed === "/") return [...starting];
    const names = new Map(items.map((item) => [item.value, item]));
    const { best } = bestMatches([...names.keys()].map(toCandidate), typed.slice(1), 5);
    return best.flatMap((value) => names.get(value) ?? []);
  }
}
