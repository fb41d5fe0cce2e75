import type { MenuItem } from "./menu.js";

/** A list from which a user chooses one, narrowed by what is typed. */
export class Picker {
  /** Closes the list with a choice, or with `undefined`. */
  readonly choose: (value: string | undefined) => void;
  /** Whether the typed text is accepted as the answer, instead of filtering the list. */
  readonly takesText: boolean;
  readonly #title: string;
  readonly #items: readonly MenuItem[];

  constructor(
    title: string,
    items: readonly MenuItem[],
    choose: (value: string | undefined) => void,
    takesText = false,
  ) {
    this.takesText = takesText;
    this.#title = title;
    this.#items = items;
    this.choose = choose;
  }

  get heading(): string {
    const keys = this.takesText ? "type an answer · enter takes it" : "type to filter · enter chooses";
    return `${this.#title} · ${keys} · esc closes`;
  }

  /** The items that hold every one of the words. */
  fitting(typed: string): MenuItem[] {
    const words = typed.toLowerCase().split(/\s+/);
    return this.#items.filter(({ label, detail = "" }) =>
      words.every((word) => `${label} ${detail}`.toLowerCase().includes(word)),
    );
  }
}
