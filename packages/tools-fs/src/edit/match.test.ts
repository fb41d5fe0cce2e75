import { applyEdits } from "@agent/core/toolkit";
import { describe, expect, test } from "vitest";
import { EditLimits, findMatch } from "./match.js";

/** The text after the edit at every place, and what was ignored; `undefined` if the old text is not found. */
function edit(text: string, oldText: string, newText: string): [string, string | undefined] | undefined {
  const limits = new EditLimits((part) => Buffer.byteLength(part));
  const { regions, ignoring } = findMatch(text, oldText, newText, true, limits);
  return regions.length === 0 ? undefined : [applyEdits(text, regions), ignoring];
}

describe("findMatch", () => {
  test.each<[string, string, string, string, string | undefined]>([
    ["a b c", "b", "x", "a x c", undefined],
    ["a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\nb\n", "a\r\nx\r\nb\r\nc\r\n", undefined],
    ["a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n", undefined],
    ["say “a”", 'say "a"', 'say "b"', 'say "b"', "typographic quotes, dashes and spaces"],
    ["a  \nb\n", "a\nb\n", "a\nc\n", "a  \nc\n", "trailing blanks"],
    ["if a:\n    b\n", "if a:\n  b\n", "if a:\n  c\n", "if a:\n    c\n", "indentation"],
    ["a  =  1\nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n", "a  =  1\nb = 3\n", "blanks within lines"],
    ["    a = bc\n", "  a = b", "  x = b", "    x = bc\n", undefined],
  ])("changes %j where it finds %j", (text, oldText, newText, expected, ignoring) => {
    expect(edit(text, oldText, newText)).toEqual([expected, ignoring]);
  });

  test.each([
    ["a\nb\n", "c"],
    ["\n\n\n", " \n "],
    ["  a\n    b\n", "a\nb\nc"],
  ])("finds nothing in %j for %j", (text, oldText) => {
    expect(edit(text, oldText, "x")).toBeUndefined();
  });

  test("finds a block among repeated lines, and overlapping blocks once", () => {
    expect(edit("a \na \nb\n", "a\nb\n", "x\n")).toEqual(["a \nx\n", "trailing blanks"]);
    expect(edit("a \na \na \n", "a\na\n", "x\n")).toEqual(["x\na \n", "trailing blanks"]);
  });

  test("keeps each of several lines that differ only in blanks, or refuses if it is not clear which one stays", () => {
    expect(edit("a \na  \nb\n", "a\na\nb", "a\na\nc")).toEqual(["a \na  \nc\n", "trailing blanks"]);
    expect(() => edit("a \na  \nb\n", "a\na\nb", "a\nc")).toThrow("with different blanks in several");
  });
});

test("limits the places of an edit and the text that it repeats", () => {
  const limits = new EditLimits((part) => part.length);
  const half = "x".repeat(8 * 1024 * 1024);
  limits.addRepeated(half);
  limits.addRepeated(half);
  expect(() => limits.addRepeated("x")).toThrow("more than 16777216 bytes");
  for (let place = 0; place < 1_000_000; place++) limits.addPlace();
  expect(() => limits.addPlace()).toThrow("more than 1000000 times");
});
