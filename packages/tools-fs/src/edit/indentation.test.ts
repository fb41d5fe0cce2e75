import { describe, expect, test } from "vitest";
import { checkBody, checkMargin, indentMap, indentWriter, reindent } from "./indentation.js";

describe("indentMap", () => {
  test("maps each indentation to the one in the file, and skips blank lines", () => {
    const map = indentMap(["a", "  b", "", "    c"], ["a", "\tb", "x", "\t\tc"]);
    expect([...(map ?? [])]).toEqual([
      ["", ""],
      ["  ", "\t"],
      ["    ", "\t\t"],
    ]);
  });

  test("finds none for blocks of different structure", () => {
    expect(indentMap(["a", "  b", "  c"], ["a", "  b", "    c"])).toBeUndefined();
  });
});

describe("reindent", () => {
  const map = (...pairs: [string, string][]) => new Map(pairs);

  test.each<[string, [string, string][], string, string, string]>([
    [
      "levels that are known",
      [
        ["", "\t"],
        ["  ", "\t\t"],
      ],
      "",
      "a\n  b",
      "\ta\n\t\tb",
    ],
    [
      "a deeper level by the known step",
      [
        ["  ", "    "],
        ["    ", "        "],
      ],
      "",
      "      c",
      "            c",
    ],
    ["a deeper level in a file with tabs", [["  ", "\t"]], "a\n\tb\n", "  b\n    c", "\tb\n\t\tc"],
    [
      "a deeper level in a file with four blanks",
      [["  ", "    "]],
      "a\n    b\n        c\n",
      "    c",
      "        c",
    ],
    [
      "a deeper level by the most frequent step",
      [["\t", "  "]],
      "a\n  b\n    c\n      d\n         e\n",
      "\t\tc",
      "    c",
    ],
    [
      "a level between known ones",
      [
        ["", ""],
        ["        ", "    "],
      ],
      "",
      "    b",
      "  b",
    ],
    [
      "a level at the margin",
      [
        ["  ", "  "],
        ["    ", "    "],
      ],
      "",
      "a\n  b",
      "a\n  b",
    ],
    ["blank lines", [["  ", "    "]], "a\n    b\n", "  a\n   \n  b", "    a\n   \n    b"],
  ])("translates %s", (_, pairs, file, text, expected) => {
    expect(reindent(text, map(...pairs), file)).toBe(expected);
  });

  test.each<[string, [string, string][], string, string]>([
    ["is less deep than all of old_text", [["    ", "  "]], "a\n  b\n", "  c"],
    ["mixes tabs and blanks", [["  ", "    "]], "a\n    b\n", "\tc"],
    [
      "is not a whole step of the file",
      [
        ["", ""],
        ["    ", "  "],
      ],
      "",
      "   c",
    ],
    [
      "would be negative",
      [
        ["    ", ""],
        ["      ", "  "],
      ],
      "",
      "  c",
    ],
  ])("refuses a level that %s", (_, pairs, file, text) => {
    expect(() => reindent(text, map(...pairs), file)).toThrow("which old_text does not show");
  });

  test("moves a string of several lines as a whole, and refuses to translate one", () => {
    const text = "  a = `\n    b\n  `";
    expect(reindent(text, map(["  ", "    "], ["    ", "      "]), "")).toBe("    a = `\n      b\n    `");
    expect(() => reindent(text, map(["  ", "    "], ["    ", "        "]), "")).toThrow(
      "inside a string of several lines",
    );
  });
});

describe("indentWriter", () => {
  const FILE = "a:\n\tb\n\t\tc\n";

  test.each([
    ["a:\n", "a:\n  b\n    c\n", "a:\n\tb\n\t\tc\n"],
    ["a:\n", "a:\n    b\n        c\n", "a:\n\tb\n\t\tc\n"],
    ["\tb\n", "\tb\n\t  c\n", "\tb\n\t\tc\n"],
  ])("writes tabs for the blanks of a new text after %j", (oldText, newText, expected) => {
    expect(indentWriter(oldText, newText, FILE)?.write(newText)).toBe(expected);
  });

  test.each([
    ["a new text without blanks", "a:\n", "a:\n\tb\n", FILE],
    ["an old text with blanks", "  a\n", "  a\n  b\n", FILE],
    ["a file with blanks", "a:\n", "a:\n  b\n", `${FILE}  d\n`],
    ["a file without tabs", "a:\n", "a:\n  b\n", "a:\nb\n"],
    ["blanks inside a string of several lines", "a:\n", "a = `\n  b\n`\n", FILE],
    ["blanks inside a comment of several lines", "a:\n", "/* a\n  b */\n", FILE],
    ["a condition of a makefile", "a:\n", "ifeq (a,b)\n  c\nendif\n", FILE],
    ["blanks that are not multiples of one step", "a:\n", "a:\n     b\n", FILE],
  ])("leaves alone %s", (_, oldText, newText, file) => {
    expect(indentWriter(oldText, newText, file)).toBeUndefined();
  });

  test("refuses blanks that stand for fewer tabs than old_text has", () => {
    expect(() => indentWriter("\t\tc\n", "  c\n", FILE)).toThrow("which old_text does not show");
  });
});

describe("checkBody", () => {
  const check = (before: string, old: string, replacement: string): void =>
    checkBody(replacement, before + old, before.length, before.length + old.length);

  test.each([
    ["def f():\n", "    a\n", "a\n"],
    ["  if a:\n\n", "    b\n", "  c\n"],
    ["async def f():\n", "    a\n", "a\n"],
  ])("refuses after %j in place of %j the line %j", (before, old, replacement) => {
    expect(() => check(before, old, replacement)).toThrow("which is not deeper than");
  });

  test.each([
    ["def f():\n", "    a\n", "    b\n"],
    ["def f():\n", "a\n", "b\n"],
    ["f(a)\n", "    a\n", "b\n"],
    ["for a in b:\n", "    a\n", "- b\n"],
    ["def f():\n", "    a\n", "# b\n    c\n"],
    ["def f():\n", "    a\n", ""],
    ["def f():\n\n\n\n\n\n", "    a\n", "a\n"],
    ["def f():\n# a\n", "    a\n", "a\n"],
  ])("allows after %j in place of %j the line %j", (before, old, replacement) => {
    expect(() => check(before, old, replacement)).not.toThrow();
  });
});

describe("checkMargin", () => {
  const FILE = "function f() {\n  if (a) {\n    old();\n  }\n}\n";
  const check = (replacement: string, old = "old();", mark = ""): void => {
    const start = FILE.indexOf(old);
    checkMargin(replacement, FILE, start, start + old.length, mark);
  };

  test.each(["new();\nother();", "new();\n      deeper();\n other();", "if (b) {\n  c();\n}", "a(\nb\n);"])(
    "refuses lines that leave the block: %j",
    (replacement) => {
      expect(() => check(replacement)).toThrow("Write both texts as whole lines");
    },
  );

  test.each([
    "new();",
    "new();\n    other();",
    "new();\n      deeper();",
    "new();\n  }\n  if (b) {\n    c();",
    "new();\n\nfunction g() {",
    "new();\n}\nfunction g() {",
    "new();\n// at the margin\n    other();",
    "`a\nb`;",
    "    new();\nother();",
  ])("allows %j", (replacement) => {
    expect(() => check(replacement)).not.toThrow();
  });

  test("allows what the old text did, and any indentation inside the string that it begins in", () => {
    expect(() => check("new();\n  }\n}\nend", "old();\n  }\n}")).not.toThrow();
    expect(() => check("a\nb", "old();", "`")).not.toThrow();
  });
});
