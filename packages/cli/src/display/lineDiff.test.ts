import { describe, expect, test } from "vitest";
import { lineDiff } from "./lineDiff.js";

describe("the difference between two texts", () => {
  test("has its context, and far changes are apart", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}`);
    const after = lines.with(2, "two").with(15, "fifteen");
    expect(lineDiff(lines.join("\n"), after.join("\n"))).toEqual([
      "@@ -1,6 +1,6 @@",
      " 0",
      " 1",
      "-2",
      "+two",
      " 3",
      " 4",
      " 5",
      "@@ -13,7 +13,7 @@",
      " 12",
      " 13",
      " 14",
      "-15",
      "+fifteen",
      " 16",
      " 17",
      " 18",
    ]);
  });

  test.each<[string, string, string[]]>([
    ["", "a\nb\n", ["@@ -1,0 +1,2 @@", "+a", "+b"]],
    ["a\n", "", ["@@ -1,1 +1,0 @@", "-a"]],
    ["a", "a", []],
    ["a", "a\n", ["\\ Only the newline at the end of the file differs"]],
    ["a\nb\nc", "a\nc", ["@@ -1,3 +1,2 @@", " a", "-b", " c"]],
  ])("%j to %j", (before, after, expected) => {
    expect(lineDiff(before, after)).toEqual(expected);
  });

  test("of two large files is shown without comparing every line with every other", () => {
    const text = (mark: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${mark}${at}`).join("\n");
    expect(lineDiff(text("a"), text("b"))).toHaveLength(40_001);
  });
});
