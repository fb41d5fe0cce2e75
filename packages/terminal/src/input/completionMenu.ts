import type { MentionSource } from "@agent/core";
import type { LineEditor } from "./editor.js";
import { FileIndex } from "./fileIndex.js";
import { bestMatches, toCandidate } from "./fuzzy.js";
import { Menu, type MenuItem } from "./menu.js";

const MOST_FILES = 50;
const FILE_WORD = /(?<=^|\s)@([^\s"]*)$/;
const COMMAND = /^\/[\w:-]*$/;

/** The input line and the view that a completion changes. */
interface MenuPlace {
  readonly editor: LineEditor;
  menu: Menu | undefined;
}

/** The list that opens while a user types: commands after a slash, files and packs' mentions after an @. */
export class CompletionMenu {
  readonly #place: MenuPlace;
  readonly #commands: () => readonly MenuItem[];
  readonly #sources: () => readonly MentionSource[];
  readonly #files = new FileIndex(process.cwd());
  #listing = new AbortController();
  #closedFor: string | undefined;
  /** The line right after a file was completed, which ended with a blank. */
  #completed: string | undefined;

  constructor(
    place: MenuPlace,
    commands: () => readonly MenuItem[],
    sources: () => readonly MentionSource[],
  ) {
    this.#place = place;
    this.#commands = commands;
    this.#sources = sources;
  }

  /** Updates the list after the line has changed. */
  update(): void {
    const { editor } = this.#place;
    if (editor.text !== this.#closedFor) this.#closedFor = undefined;
    else return;
    this.#listing.abort();
    const before = editor.text.slice(0, editor.cursor);
    if (COMMAND.test(before) && editor.cursor === editor.text.length) {
      this.#place.menu = new Menu(this.#fittingCommands(before));
      return;
    }
    const word = this.#word;
    if (word === undefined) {
      this.#place.menu = undefined;
      return;
    }
    const source = this.#sources().find(({ name }) => word.startsWith(`${name}:`));
    if (source) {
      void this.#showMentions(source, word);
      return;
    }
    this.#showFiles(word);
    // Read the files in the background and show new ones as soon as they are known.
    void this.#files.refresh().then(() => {
      if (this.#isWanted(word)) this.#showFiles(word);
    });
  }

  /** The word after an @ that the cursor is at the end of. */
  get #word(): string | undefined {
    const { editor } = this.#place;
    return FILE_WORD.exec(editor.text.slice(0, editor.cursor))?.[1];
  }

  /** Whether a list for this word may still be shown: the user may have continued typing, or closed it. */
  #isWanted(word: string): boolean {
    return this.#word === word && this.#closedFor === undefined;
  }

  /** Inserts typed text into the line. A range, as in `@a.ts:10-40`, follows a completed file without the blank. */
  insert(text: string): void {
    const { editor } = this.#place;
    const isRange = text.startsWith(":") && editor.text.slice(0, editor.cursor) === this.#completed;
    editor.replace(editor.cursor - (isRange ? 1 : 0), editor.cursor, text);
    this.update();
  }

  /** Handles a key if the list is open and the key is for it. */
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

  /** Completes on Enter, and also sends the line if it was already complete or is a command without arguments. */
  #enter(value: string): boolean {
    const { editor } = this.#place;
    if (!value.startsWith("/")) {
      const typed = this.#word;
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
    // The command takes an argument: let the user continue typing.
    return !isTyped && value.endsWith(" ");
  }

  #take(value: string): void {
    const { editor } = this.#place;
    if (value.startsWith("/")) editor.set(value.endsWith(" ") ? value : `${value} `);
    else {
      const word = FILE_WORD.exec(editor.text.slice(0, editor.cursor))?.[0] ?? "";
      const name = /\s/.test(value) ? `@"${value}"` : `@${value}`;
      editor.replace(editor.cursor - word.length, editor.cursor, isOpen(value) ? name : `${name} `);
      this.#completed = isOpen(value) ? undefined : editor.text.slice(0, editor.cursor);
    }
    this.#place.menu = undefined;
    if (isOpen(value)) this.update();
  }

  #close(): void {
    this.#closedFor = this.#place.editor.text;
    this.#place.menu = undefined;
  }

  #showFiles(word: string): void {
    const found = this.#files.find(word, MOST_FILES);
    const sources = this.#sources().filter(({ name }) => name.startsWith(word));
    this.#place.menu = new Menu([
      ...sources.map(({ name }) => ({ value: `${name}:`, label: `${name}:`, detail: "of a server" })),
      ...found.map((path) => ({ value: path, label: path })),
    ]);
  }

  /**
   * Shows the items of a source, once it has answered. A source that fails shows nothing: sending the message reports
   * the error.
   */
  async #showMentions(source: MentionSource, word: string): Promise<void> {
    const listing = new AbortController();
    this.#listing = listing;
    this.#place.menu = undefined;
    const query = word.slice(source.name.length + 1);
    const found = await source.list(query, listing.signal).catch(() => []);
    if (listing.signal.aborted || !this.#isWanted(word)) return;
    const items = found.map(({ id, description }) => ({
      value: `${source.name}:${id}`,
      label: `${source.name}:${id}`,
      ...(description !== undefined && { detail: description }),
    }));
    this.#place.menu = new Menu(items);
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

/** Whether the completed value can be continued: with a file of the directory, or an item of the source. */
function isOpen(value: string): boolean {
  return value.endsWith("/") || value.endsWith(":");
}
