import type { MenuItem } from "./menu.js";

/** A list from which a person chooses one, narrowed by what is typed. */
export class Picker {
  /** Closes the list with a choice, or with none. */
  readonly choose: (value: string | undefined) => void;
  readonly #title: string;
  readonly #items: readonly MenuItem[];

  constructor(title: string, items: readonly MenuItem[], choose: (value: string | undefined) => void) {
    this.#title = title;
    this.#items = items;
    this.choose = choose;
  }

  get heading(): string {
    return `${this.#title} · type to filter · enter chooses · esc closes`;
  }

  /** The items that hold every one of the words. */
  fitting(typed: string): MenuItem[] {
    const words = typed.toLowerCase().split(/\s+/);
    return this.#items.filter(({ label, detail = "" }) =>
      words.every((word) => `${label} ${detail}`.toLowerCase().includes(word)),
    );
  }
}
