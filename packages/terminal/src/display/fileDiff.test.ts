import type { FileDiff } from "@agent/core";
import { describe, expect, test } from "vitest";
import { COLOR_STYLE, PLAIN_STYLE, type Style } from "../text/style.js";
import { changeCounts, diffLines } from "./fileDiff.js";

const { red, green, dim, inverse } = COLOR_STYLE;

function fileOf(lines: readonly string[], changed: Partial<FileDiff> = {}): FileDiff {
  return {
    path: "/elsewhere/a",
    change: "edited",
    added: 1,
    removed: 1,
    hunks: [{ oldStart: 1, newStart: 1, lines }],
    ...changed,
  };
}

const paint = (lines: readonly string[], style: Style = COLOR_STYLE): readonly string[] =>
  diffLines([fileOf(lines)], style).lines;

describe("the lines of a diff", () => {
  test("have numbers, and the words that changed stand out", () => {
    expect(paint([" same", "-const a = 1;", "+const b = 12;"])).toEqual([
      `${dim("1")}  same`,
      red(`2 -const ${inverse("a")} = ${inverse("1")};`),
      green(`2 +const ${inverse("b")} = ${inverse("12")};`),
    ]);
  });

  test("show if only the newline at the end of the file changes", () => {
    const rows = (noFinalNewline: "old" | "new" | "both", added: string): readonly string[] =>
      diffLines(
        [fileOf([], { hunks: [{ oldStart: 1, newStart: 1, lines: ["-a", `+${added}`], noFinalNewline }] })],
        PLAIN_STYLE,
      ).lines;
    expect(rows("old", "a")).toEqual(["1 -a", "1 +a", "(the newline at the end of the file is added)"]);
    expect(rows("new", "a")).toEqual(["1 -a", "1 +a", "(the newline at the end of the file is removed)"]);
    expect(rows("new", "b")).toEqual(["1 -a", "1 +b"]);
  });

  test("correspond in blocks of the same height; others are coloured whole", () => {
    expect(paint(["-let a = one", "-let b = two", "+let a = 1", "+let b = 2"])).toEqual([
      red(`1 -let a = ${inverse("one")}`),
      red(`2 -let b = ${inverse("two")}`),
      green(`1 +let a = ${inverse("1")}`),
      green(`2 +let b = ${inverse("2")}`),
    ]);
    expect(paint(["-one two", "+one", "+two"])).toEqual([
      red("1 -one two"),
      green("1 +one"),
      green("2 +two"),
    ]);
  });

  test("are coloured whole if they were rewritten", () => {
    expect(paint(["-alpha beta gamma", "+x = compute(y)"])).toEqual([
      red("1 -alpha beta gamma"),
      green("1 +x = compute(y)"),
    ]);
  });

  test("hide a carriage return that every line has, and show one that is a change", () => {
    expect(paint([" a\r", "-b\r", "+c\r"], PLAIN_STYLE)).toEqual(["1  a", "2 -b", "2 +c"]);
    // The last line may have no line ending, and a new line may have another one.
    expect(paint([" a\r", "-b", "+c\r", "+d"], PLAIN_STYLE)).toEqual(["1  a", "2 -b", "2 +c", "3 +d"]);
    expect(paint(["-b", "+b\r"], PLAIN_STYLE)).toEqual(["1 -b", "1 +b\\r"]);
  });

  test("cannot control the terminal", () => {
    expect(paint(["+a\x1b[2J\n+b"], PLAIN_STYLE)).toEqual(["1 +a\\x1b[2J\\n+b"]);
  });

  test("are compared in bounded time, however long they are", () => {
    const words = Array.from({ length: 50_000 }, (_, index) => `w${index}`);
    expect(paint([`-${words.join(" ")}`, `+${words.reverse().join(" ")}`])).toHaveLength(2);
  });

  test("name each file if there are several, and count what is left out", () => {
    const files = [
      fileOf(["+b"], { hunks: [{ oldStart: 98, newStart: 99, lines: ["+b"] }], more: 3 }),
      fileOf([], { oldPath: "/elsewhere/b", change: "moved", added: 0, removed: 0, hunks: [] }),
    ];
    expect(diffLines(files, PLAIN_STYLE)).toEqual({
      lines: [
        "/elsewhere/a  +1 −1",
        "99 +b",
        "… 3 more lines of the change",
        "moved /elsewhere/b → /elsewhere/a",
      ],
      indent: 4,
    });
    expect(changeCounts(files, PLAIN_STYLE)).toBe("+1 −1");
  });
});
