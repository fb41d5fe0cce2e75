import { describe, expect, test } from "vitest";
import { COLOR_STYLE } from "./style.js";
import { cutToWidth, expandTabs, styledWidth, textWidth, wrapRows } from "./width.js";

describe("width", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["e\u0301", 1],
    ["👍🏽", 2],
    ["한국", 4],
    ["é…●│", 4],
    ["", 0],
  ])("%j takes %i columns", (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });

  test("a text is cut at a column, never inside a character", () => {
    expect(cutToWidth("abcdef", 6)).toBe("abcdef");
    expect(cutToWidth("abcdefg", 6)).toBe("abcde…");
    expect(cutToWidth("日本語日本", 6)).toBe("日本…");
    expect(cutToWidth("abc", 0)).toBe("");
  });

  test("a line of megabytes is cut without being measured", () => {
    expect(cutToWidth("é".repeat(5_000_000), 10)).toBe(`${"é".repeat(9)}…`);
  });

  test("rows have at most the given columns, and together are the line", () => {
    const line = "ab日本語cd 👍👍 ef";
    const rows = wrapRows(line, 5);
    expect(rows.join("")).toBe(line);
    for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(5);
    expect(wrapRows("", 5)).toEqual([""]);
  });

  test("a style goes on in the next row and ends with each", () => {
    const [first = "", second = ""] = wrapRows(COLOR_STYLE.red("abcdef"), 4);
    expect(first).toBe("\x1b[31mabcd\x1b[0m");
    expect(second).toBe("\x1b[31mef\x1b[39m");
    expect(styledWidth(first)).toBe(4);
  });

  test("tabs reach to the next multiple of eight", () => {
    expect(expandTabs("a\tb\tc")).toBe("a       b       c");
  });
});
