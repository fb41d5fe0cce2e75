import { describe, expect, test } from "vitest";
import { COLOR_STYLE } from "./style.js";
import { cutToWidth, expandTabs, styledWidth, textWidth, wrapLine, wrapRows, wrapWords } from "./width.js";

describe("width", () => {
  test.each([
    ["plain", 5],
    ["日本語", 6],
    ["e\u0301", 1],
    ["👍🏽", 2],
    ["한국", 4],
    ["é…●│", 4],
    ["", 0],
  ])("of %j is %i columns", (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });

  test("cuts a text at a column, never inside a character", () => {
    expect(cutToWidth("abcdef", 6)).toBe("abcdef");
    expect(cutToWidth("abcdefg", 6)).toBe("abcde…");
    expect(cutToWidth("日本語日本", 6)).toBe("日本…");
    expect(cutToWidth("abc", 0)).toBe("");
  });

  test("cuts a line of megabytes without measuring it", () => {
    expect(cutToWidth("é".repeat(5_000_000), 10)).toBe(`${"é".repeat(9)}…`);
  });

  test("breaks a line into rows of at most the given columns, which together are the line", () => {
    const line = "ab日本語cd 👍👍 ef";
    const rows = wrapRows(line, 5);
    expect(rows.join("")).toBe(line);
    for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(5);
    expect(wrapRows("", 5)).toEqual([""]);
  });

  test("continues a style in the next row and ends it with each", () => {
    const [first = "", second = ""] = wrapRows(COLOR_STYLE.red("abcdef"), 4);
    expect(first).toBe("\x1b[31mabcd\x1b[0m");
    expect(second).toBe("\x1b[31mef\x1b[39m");
    expect(styledWidth(first)).toBe(4);
  });

  test.each<[what: string, line: string, width: number, indent: number, rows: readonly string[]]>([
    ["a line that fits", "one two", 7, 2, ["one two"]],
    ["between words", "one two three", 8, 0, ["one two", "three"]],
    ["a word that ends with the row", "one two three", 7, 0, ["one two", "three"]],
    ["blanks at the break", "one two     three", 8, 0, ["one two", "three"]],
    ["a word longer than a row", "abcdefghij kl", 4, 0, ["abcd", "efgh", "ij", "kl"]],
    ["a word longer than a row after others", "a abcdefghij kl", 4, 0, ["a ab", "cdef", "ghij", "kl"]],
    ["the indentation of the first row", "    one two", 8, 0, ["    one", "two"]],
    ["an indentation as wide as the row", "        one", 6, 0, ["      ", "  one"]],
    ["a list item", "- one two three", 9, 2, ["- one two", "  three"]],
    ["wide characters", "日本 語日 本", 5, 0, ["日本", "語日", "本"]],
    ["text without words", "日本語日本", 5, 0, ["日本", "語日", "本"]],
    ["nothing", "", 5, 2, [""]],
  ])("keeps words whole: %s", (_, line, width, indent, rows) => {
    expect(wrapWords(line, width, indent)).toEqual(rows);
  });

  test.each<[what: string, line: string, width: number, indent: number, rows: readonly string[]]>([
    ["between words, with the blank", "+one two three", 8, 1, ["+one ", " two ", " three"]],
    ["blanks at the break", "one     two", 6, 0, ["one   ", "  two"]],
    ["a word longer than a row", "+abcdefghij kl", 5, 1, ["+abcd", " efgh", " ij ", " kl"]],
    ["next to wide characters, not before a mark that closes", "ab日本語。c", 8, 0, ["ab日本", "語。c"]],
    ["a line of more than 20,000 columns", `-${"a b ".repeat(6000)}`, 9, 1, []],
  ])("keeps the blanks of a line: %s", (_, line, width, indent, rows) => {
    const found = wrapLine(line, width, indent);
    if (rows.length > 0) expect(found).toEqual(rows);
    expect(found.map((row, at) => row.slice(at === 0 ? 0 : indent)).join("")).toBe(line);
    for (const row of found) expect(textWidth(row)).toBeLessThanOrEqual(width);
  });

  test("continues a style that spans words in the next row and ends it with each", () => {
    expect(wrapWords(`a ${COLOR_STYLE.red("bcd efg")} h`, 5)).toEqual([
      "a \x1b[31mbcd\x1b[0m",
      "\x1b[31mefg\x1b[39m h",
    ]);
  });

  test("makes no row wider than the terminal, and loses nothing but blanks", () => {
    const line = "x ab日本語cd  👍👍 ef ghijklmnop e\u0301e\u0301 q";
    for (let width = 2; width < 40; width++) {
      const rows = wrapWords(line, width);
      expect(rows.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
      for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(width);
    }
  });

  test("expands tabs to the next multiple of eight", () => {
    expect(expandTabs("a\tb\tc")).toBe("a       b       c");
  });
});

test("ends a style that closes at the blank where the line is broken", () => {
  const line = `${COLOR_STYLE.inverse("one two")} three`;
  expect(wrapWords(line, 8)).toEqual(["\x1b[7mone two\x1b[0m", "three"]);
});
