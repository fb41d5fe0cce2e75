import { graphemes } from "../text/width.js";
import type { History } from "./history.js";

/** A search through earlier input, like Ctrl+R in a shell. */
export class HistorySearch {
  readonly #history: History;
  readonly #draft: string;
  #words = "";
  #found: { readonly entry: string; readonly at: number } | undefined;
  #failed = false;

  /** `draft` is the line before the search. It is restored if the search is cancelled. */
  constructor(history: History, draft: string) {
    this.#history = history;
    this.#draft = draft;
  }

  get prompt(): string {
    return `${this.#failed ? "nothing found" : "search"} "${this.#words}": `;
  }

  /** The text to show on the line: the entry that was found, or the draft. */
  get text(): string {
    return this.#found?.entry ?? this.#draft;
  }

  get draft(): string {
    return this.#draft;
  }

  type(text: string): void {
    this.#words += text;
    this.#find(this.#history.search(this.#words));
  }

  erase(): void {
    this.#words = graphemes(this.#words).slice(0, -1).join("");
    this.#find(this.#words === "" ? undefined : this.#history.search(this.#words));
    if (this.#words === "") this.#failed = false;
  }

  older(): void {
    const next = this.#history.search(this.#words, this.#found?.at);
    if (next) this.#found = next;
    this.#failed = !next;
  }

  #find(found: { readonly entry: string; readonly at: number } | undefined): void {
    this.#failed = !found;
    if (found || this.#words === "") this.#found = found;
  }
}
