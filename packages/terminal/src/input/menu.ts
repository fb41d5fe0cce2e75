import { escapeToLine } from "@agent/internal";
import type { Style } from "../text/style.js";
import { cutToWidth, textWidth, wrapWords } from "../text/width.js";

// A long label is wrapped to at most this many rows while it is selected.
const MOST_LABEL_ROWS = 4;
// A menu with fewer rows needs all of them for items.
const LEAST_ROWS_WITH_NOTICE = 4;

export interface MenuItem {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
  /** Additional text for filtering, not shown. */
  readonly search?: string;
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

  /** The rows around the selected item, at most `maxRows`. The last shows the total number, if not all are shown. */
  rows(width: number, maxRows: number, style: Style): string[] {
    const { length } = this.items;
    if (length === 0) return [style.dim("  no match")];
    const whole = this.#selectedRows(width, Math.min(MOST_LABEL_ROWS, maxRows));
    const room = Math.max(1, maxRows - Math.max(0, whole.length - 1));
    const hasNotice = length > room && room >= LEAST_ROWS_WITH_NOTICE;
    const count = hasNotice ? room - 1 : room;
    const first = Math.max(0, Math.min(this.#selected - Math.floor(count / 2), length - count));
    const labelWidth = this.#labelWidth(width);
    const rows = this.items.slice(first, first + count).flatMap(({ label, detail }, at) => {
      const isSelected = first + at === this.#selected;
      if (isSelected && whole.length > 1) return whole.map((row) => style.cyan(style.bold(row)));
      const name = cutToWidth(escapeToLine(label), labelWidth);
      const padding = " ".repeat(Math.max(0, labelWidth - textWidth(name)));
      const about = detail === undefined ? "" : `${padding}  ${escapeToLine(detail)}`;
      const start = cutToWidth(`${isSelected ? "❯" : " "} ${name}`, width);
      const rest = style.dim(cutToWidth(about, Math.max(0, width - textWidth(start))));
      return `${isSelected ? style.cyan(style.bold(start)) : start}${rest}`;
    });
    return hasNotice ? [...rows, style.dim(`  ${first + 1}–${first + count} of ${length}`)] : rows;
  }

  /** The whole label of the selected item, which would be cut otherwise. Empty if details are next to the labels. */
  #selectedRows(width: number, most: number): string[] {
    if (this.items.some(({ detail }) => detail !== undefined && detail !== "")) return [];
    const rows = wrapWords(`❯ ${escapeToLine(this.selected?.label ?? "")}`, width, 2);
    if (rows.length <= most) return rows;
    const last = cutToWidth(rows[most - 1] ?? "", width - 1);
    return [...rows.slice(0, most - 1), last.endsWith("…") ? last : `${last}…`];
  }

  /** A long label leaves half of the row to the details, if they need it. */
  #labelWidth(width: number): number {
    const widest = (texts: readonly string[]): number =>
      texts.reduce((most, text) => Math.max(most, textWidth(escapeToLine(text))), 0);
    const details = widest(this.items.map(({ detail = "" }) => detail));
    const half = Math.floor(width / 2) - 2;
    const room = details === 0 ? width - 2 : Math.max(half, width - 4 - details);
    return Math.min(room, widest(this.items.map(({ label }) => label)));
  }
}

/** A list from which a user chooses one item, filtered by typed text. */
export class Picker {
  /** Closes the list with a choice, or with `undefined`. */
  readonly choose: (value: string | undefined) => void;
  /** Whether the typed text is accepted as the answer, instead of filtering the list. */
  readonly takesText: boolean;
  /** The line that the user was writing when the list opened. */
  draft = "";
  readonly openedAt = performance.now();
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

  /** The question, and the available keys. */
  get heading(): { readonly title: string; readonly typing: string; readonly keys: string } {
    const answer = this.#items.length > 0 ? "type another answer" : "type an answer";
    const typing = this.takesText ? answer : "type to filter";
    const enter = this.#items.length > 0 ? "enter select" : "enter send";
    return { title: this.#title, typing, keys: `${enter} · esc cancel` };
  }

  /** The items that contain all of the words. If typed text is accepted, it is the first one. */
  fitting(typed: string): MenuItem[] {
    const found = this.#containing(typed);
    const text = typed.trim();
    if (!this.takesText || text === "" || this.#items.length === 0) return found;
    const same = found.filter(({ label }) => label.toLowerCase() === text.toLowerCase());
    const others = found.filter((item) => !same.includes(item));
    return [...(same.length > 0 ? same : [{ value: typed, label: `as typed: ${text}` }]), ...others];
  }

  #containing(typed: string): MenuItem[] {
    const words = typed.toLowerCase().split(/\s+/);
    return this.#items.filter(({ label, detail = "", search = "" }) => {
      const text = `${label} ${detail} ${search}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
}
