import { describe, expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { textWidth } from "../text/width.js";
import { Menu, type MenuItem } from "./menu.js";

const items = (count: number): MenuItem[] =>
  Array.from({ length: count }, (_, at) => ({ value: `${at}`, label: `item ${at}` }));

describe("a list to choose from", () => {
  test("leaves room for the details next to a long label, and aligns short ones", () => {
    const sessions = [
      {
        value: "1",
        label: "a first message of many words about servers and tests",
        detail: "just now · 2 KB",
      },
      { value: "2", label: "日本", detail: "5 min ago · 12 KB" },
    ];
    const menu = new Menu(sessions);
    expect(menu.rows(40, 8, PLAIN_STYLE)).toEqual([
      "❯ a first message of many words about",
      "  servers and tests",
      "    just now · 2 KB",
      "  日本                 5 min ago · 12 KB",
    ]);
    menu.move(1);
    expect(menu.rows(40, 8, PLAIN_STYLE)).toEqual([
      "  a first message of…  just now · 2 KB",
      "❯ 日本                 5 min ago · 12 KB",
    ]);
    for (const row of new Menu(sessions).rows(12, 8, PLAIN_STYLE))
      expect(textWidth(row)).toBeLessThanOrEqual(12);
  });

  test("labels without details have the whole row, and the selected one as many as it needs", () => {
    const labels = ["node:test, because it needs no dependency", "x".repeat(50), "y ".repeat(99).trim()];
    const menu = new Menu(labels.map((label) => ({ value: label, label })));
    expect(menu.rows(30, 8, PLAIN_STYLE)).toEqual([
      "❯ node:test, because it needs",
      "  no dependency",
      `  ${"x".repeat(27)}…`,
      `  ${"y ".repeat(13)}y…`,
    ]);
    menu.move(-1);
    const rows = menu.rows(30, 8, PLAIN_STYLE);
    expect(rows).toHaveLength(6);
    expect(rows.at(-1)).toMatch(/^ {2}y .*…$/);
    expect(menu.rows(30, 3, PLAIN_STYLE)).toHaveLength(3);
    expect(menu.rows(30, 1, PLAIN_STYLE)).toEqual([`❯ ${"y ".repeat(13)}y…`]);
  });

  test("shows long details of the selected item only in a narrow list, and whole in a wide one", () => {
    const commands = [
      { value: "/help", label: "/help", detail: "list the commands and keys" },
      { value: "/rewind", label: "/compact [WHAT TO KEEP]", detail: "replace older messages with a summary" },
    ];
    const menu = new Menu(commands);
    expect(menu.rows(36, 8, PLAIN_STYLE)).toEqual([
      "❯ /help",
      "    list the commands and keys",
      "  /compact [WHAT TO KEEP]",
    ]);
    menu.move(1);
    expect(menu.rows(36, 8, PLAIN_STYLE)).toEqual([
      "  /help",
      "❯ /compact [WHAT TO KEEP]",
      "    replace older messages with a",
      "    summary",
    ]);
    expect(menu.rows(54, 8, PLAIN_STYLE)).toEqual([
      "  /help                    list the commands and keys",
      "❯ /compact [WHAT TO KEEP]  replace older messages with",
      "                           a summary",
    ]);
  });

  test("shows its position if it is not shown whole", () => {
    const menu = new Menu(items(22));
    expect(menu.rows(40, 8, PLAIN_STYLE)).toEqual([
      "❯ item 0",
      ...[1, 2, 3, 4, 5, 6].map((at) => `  item ${at}`),
      "  1–7 of 22",
    ]);
    menu.move(-1);
    expect(menu.rows(40, 5, PLAIN_STYLE)).toEqual([
      ...[18, 19, 20].map((at) => `  item ${at}`),
      "❯ item 21",
      "  19–22 of 22",
    ]);
    expect(new Menu(items(8)).rows(40, 20, PLAIN_STYLE)).toHaveLength(8);
    expect(menu.rows(40, 1, PLAIN_STYLE)).toEqual(["❯ item 21"]);
  });
});
