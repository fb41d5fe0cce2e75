import { describe, expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { textWidth } from "../text/width.js";
import { readTable, tableLines } from "./table.js";

function draw(source: string, width: number): string[] {
  const table = readTable(source.split("\n"));
  return table ? tableLines(table, width, PLAIN_STYLE) : [];
}

describe("a Markdown table", () => {
  test("is drawn with columns that line up, also with wide characters", () => {
    expect(draw("| name | n |\n|:--|--:|\n| 日本 | 5 |\n| `a|b` | 12 |", 40)).toEqual([
      "┌───────┬────┐",
      "│ name  │  n │",
      "├───────┼────┤",
      "│ 日本  │  5 │",
      "│ `a|b` │ 12 │",
      "└───────┴────┘",
    ]);
  });

  test("is drawn with 200,000 rows", () => {
    expect(draw(`| a |\n|---|\n${"| 1 |\n".repeat(200_000)}`.trimEnd(), 20)).toHaveLength(200_004);
  });

  test("breaks its cells between words if it is too wide", () => {
    const lines = draw("| a | text |\n|---|---|\n| 1 | one two three four |", 20);
    expect(lines).toEqual(
      [
        "┌───┬──────────────┐",
        "│ a │ text         │",
        "├───┼──────────────┤",
        "│ 1 │ one two      │",
        "│   │ three four   │",
        "└───┴──────────────┘",
      ].map((line) => line),
    );
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(20);
  });

  test("becomes a list of its rows if it cannot fit", () => {
    expect(draw("| first | second | third |\n|---|---|---|\n| aaaaaa | bbbbbb | cccccc |", 16)).toEqual([
      "first: aaaaaa",
      "second: bbbbbb",
      "third: cccccc",
    ]);
  });

  test("keeps cells that are missing or too many", () => {
    expect(draw("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |", 40).slice(3, 5)).toEqual([
      "│ 1 │       │",
      "│ 1 │ 2 | 3 │",
    ]);
  });

  test.each(["| a | b |", "| a |\n| b |", "| a | b |\n|---|", "| a |\n|:-:x|"])(
    "is not recognised in %j",
    (source) => {
      expect(readTable(source.split("\n"))).toBeUndefined();
    },
  );

  test("fits any width with every character, as a grid or as a list of rows", () => {
    const grids: number[] = [];
    for (let width = 4; width < 60; width++) {
      const lines = draw(
        "| one | two two | three three three |\n|---|---|---|\n| aaaaaaaaaaaaaaaa | b b b b b | 日本語日本語 |",
        width,
      );
      const text = lines.join("");
      for (const [character, count] of [
        ["a", 16],
        ["本", 2],
      ] as const)
        expect(text.split(character), `${character} at ${width}`).toHaveLength(count + 1);
      if (!text.startsWith("┌")) continue;
      grids.push(width);
      for (const line of lines) expect(textWidth(line), `${line} at ${width}`).toBeLessThanOrEqual(width);
    }
    expect(grids[0]).toBeLessThan(40);
    expect(grids).toEqual(Array.from({ length: grids.length }, (_, index) => (grids[0] ?? 0) + index));
    expect(grids.at(-1)).toBe(59);
  });
});
