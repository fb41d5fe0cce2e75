import { escapeToLine } from "@agent/internal";
import type { Style } from "../text/style.js";
import { clipRow, cutToWidth, textWidth, wrapWords } from "../text/width.js";

// The selected item is shown whole, in at most this many rows.
const MOST_SELECTED_ROWS = 4;
// Details that have less space than this are shown for the selected item only.
const LEAST_DETAILS = 24;
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
    const columns = this.#columns(width);
    const whole = this.#selectedRows(columns, width, Math.min(MOST_SELECTED_ROWS, maxRows), style);
    const room = Math.max(1, maxRows - (whole.length - 1));
    const hasNotice = length > room && room >= LEAST_ROWS_WITH_NOTICE;
    const count = hasNotice ? room - 1 : room;
    const first = Math.max(0, Math.min(this.#selected - Math.floor(count / 2), length - count));
    const rows = this.items.slice(first, first + count).flatMap(({ label, detail = "" }, at) => {
      if (first + at === this.#selected) return whole;
      const name = cutToWidth(`  ${cutToWidth(escapeToLine(label), columns.label)}`, width);
      if (!columns.hasDetails || detail === "") return [name];
      const about = " ".repeat(Math.max(0, columns.label + 4 - textWidth(name))) + escapeToLine(detail);
      return [name + style.dim(cutToWidth(about, Math.max(0, width - textWidth(name))))];
    });
    return hasNotice ? [...rows, style.dim(`  ${first + 1}–${first + count} of ${length}`)] : rows;
  }

  /** The selected item: its detail next to its label if there is space, else below it. */
  #selectedRows(columns: Columns, width: number, most: number, style: Style): string[] {
    const { label = "", detail = "" } = this.selected ?? {};
    const name = `❯ ${escapeToLine(label)}`;
    const marked = (text: string): string => style.cyan(style.bold(text));
    const gap = columns.label + 4 - textWidth(name);
    if (detail !== "" && columns.hasDetails && gap >= 2) {
      const [first = "", ...rest] = wrapWords(
        `${name}${" ".repeat(gap)}${escapeToLine(detail)}`,
        width,
        columns.label + 4,
      );
      const rows = [marked(name) + style.dim(first.slice(name.length)), ...rest.map(style.dim)];
      return firstRows(rows, most, width);
    }
    const below = detail === "" ? [] : wrapWords(`    ${escapeToLine(detail)}`, width, 4).map(style.dim);
    const labelMost = Math.max(1, below.length > 0 ? most - 1 : most);
    const labelRows = firstRows(wrapWords(name, width, 2), labelMost, width).map(marked);
    return [...labelRows, ...firstRows(below, most - labelRows.length, width)];
  }

  /** A long label leaves half of the row to the details, if they need it. In a narrow list there are no details. */
  #columns(width: number): Columns {
    const widest = (texts: readonly string[]): number =>
      texts.reduce((most, text) => Math.max(most, textWidth(escapeToLine(text))), 0);
    const details = widest(this.items.map(({ detail = "" }) => detail));
    const label = widest(this.items.map(({ label: text }) => text));
    const shared = Math.min(label, Math.max(Math.floor(width / 2) - 2, width - 4 - details));
    const space = width - 4 - shared;
    const hasDetails = details > 0 && (space >= details || space >= LEAST_DETAILS);
    return { label: hasDetails ? shared : Math.min(label, width - 2), hasDetails };
  }
}

/** How the width of a list is divided. */
interface Columns {
  readonly label: number;
  readonly hasDetails: boolean;
}

/** The first rows, with a mark if that is not all. */
function firstRows(rows: readonly string[], most: number, width: number): string[] {
  if (rows.length <= most) return [...rows];
  if (most <= 0) return [];
  const last = clipRow(rows[most - 1] ?? "", width - 1);
  return [...rows.slice(0, most - 1), last.endsWith("…") ? last : `${last}…`];
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
