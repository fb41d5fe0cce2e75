import { describe, expect, test } from "vitest";
import { COLOR_STYLE, PLAIN_STYLE } from "./style.js";
import { paintDiff } from "./wordDiff.js";

const { red, green, cyan, bold, inverse } = COLOR_STYLE;

describe("the colours of a diff", () => {
  test("the words that changed stand out inside their lines", () => {
    expect(paintDiff(["@@ -1 +1 @@", " same", "-const a = 1;", "+const b = 12;"], COLOR_STYLE)).toEqual([
      cyan("@@ -1 +1 @@"),
      " same",
      red(`-const ${inverse("a")} = ${inverse("1")};`),
      green(`+const ${inverse("b")} = ${inverse("12")};`),
    ]);
  });

  test("blocks of the same height correspond line by line, others are coloured whole", () => {
    expect(paintDiff(["-let a = one", "-let b = two", "+let a = 1", "+let b = 2"], COLOR_STYLE)).toEqual([
      red(`-let a = ${inverse("one")}`),
      red(`-let b = ${inverse("two")}`),
      green(`+let a = ${inverse("1")}`),
      green(`+let b = ${inverse("2")}`),
    ]);
    expect(paintDiff(["-one two", "+one", "+two"], COLOR_STYLE)).toEqual([
      red("-one two"),
      green("+one"),
      green("+two"),
    ]);
  });

  test("a line that was rewritten is coloured whole", () => {
    expect(paintDiff(["-alpha beta gamma", "+x = compute(y)"], COLOR_STYLE)).toEqual([
      red("-alpha beta gamma"),
      green("+x = compute(y)"),
    ]);
  });

  test("file headers are no changes, and a removed rule is no header", () => {
    expect(paintDiff(["--- a/x", "+++ b/x", "----"], COLOR_STYLE)).toEqual([
      bold("--- a/x"),
      bold("+++ b/x"),
      red("----"),
    ]);
  });

  test("without colour the text is untouched", () => {
    const lines = ["@@ -1 +1 @@", "-a b", "+a c", " d"];
    expect(paintDiff(lines, PLAIN_STYLE)).toEqual(lines);
  });

  test("lines of thousands of words are not compared", () => {
    const long = `-${"word ".repeat(50_000)}`;
    expect(paintDiff([long, `+${long.slice(1)}x`], PLAIN_STYLE)).toHaveLength(2);
  });
});
