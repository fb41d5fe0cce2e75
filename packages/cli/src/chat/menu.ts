import { escapeToLine } from "@agent/internal";
import type { Style } from "../display/style.js";
import { cutToWidth, textWidth } from "../display/width.js";

const MOST_ROWS = 8;
const WIDEST_LABEL = 40;

export interface MenuItem {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
}

/** A list to choose from, below the line being written. */
export class Menu {
  readonly items: readonly MenuItem[];
  #selected = 0;

  constructor(items: readonly MenuItem[], selected?: string) {
    this.items = items;
    this.#selected = Math.max(
      0,
      items.findIndex(({ value }) => value === selected),
    );
  }

  get selected(): MenuItem | undefined {
    return this.items[this.#selected];
  }

  move(by: number): void {
    const { length } = this.items;
    if (length > 0) this.#selected = (this.#selected + by + length) % length;
  }

  /** The rows around the selected item, at most `maxRows`. */
  rows(width: number, maxRows: number, style: Style): string[] {
    const count = Math.max(1, Math.min(MOST_ROWS, maxRows));
    const first = Math.max(0, Math.min(this.#selected - Math.floor(count / 2), this.items.length - count));
    const shown = this.items.slice(first, first + count);
    const widest = Math.min(WIDEST_LABEL, Math.max(...this.items.map(({ label }) => textWidth(label))));
    return shown.map(({ label, detail }, at) => {
      const isSelected = first + at === this.#selected;
      const name = escapeToLine(label);
      const padding = " ".repeat(Math.max(0, widest - textWidth(name)));
      const about = detail === undefined ? "" : `${padding}  ${escapeToLine(detail)}`;
      const text = cutToWidth(`${isSelected ? "❯" : " "} ${name}${about}`, width);
      return isSelected ? style.bold(text) : style.dim(text);
    });
  }
}
