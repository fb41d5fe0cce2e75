import { describe, expect, test } from "vitest";
import { compactDiff, editsOf } from "./compactDiff.js";
import { fileDiff } from "./fileDiff.js";

const lines = (count: number, name = "line"): string[] =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}`);
const TEXT = `${lines(12).join("\n")}\n`;

/** The edits in which `TEXT`, or another text, has each of these words, with its replacement. */
function editsWith(changes: Readonly<Record<string, string>>, text = TEXT) {
  return Object.entries(changes).map(([word, replacement]) => {
    const start = text.indexOf(word);
    return { start, end: start + word.length, replacement };
  });
}

describe("compactDiff", () => {
  test("shows each change with two lines of context, and shifted line numbers after an insertion", () => {
    const changes = editsWith({ "line 2\n": "line 2\nnew\n", "line 10": "line X" });
    expect(compactDiff(TEXT, changes)).toBe(
      [
        "@@ -1,4 +1,5 @@",
        " line 1",
        " line 2",
        "+new",
        " line 3",
        " line 4",
        "@@ -8,5 +9,5 @@",
        " line 8",
        " line 9",
        "-line 10",
        "+line X",
        " line 11",
        " line 12",
      ].join("\n"),
    );
  });

  test("joins changes whose context touches, also several in one line", () => {
    const changes = editsWith({ "ine 3": "INE 3", "line 5": "five", "line 8": "eight" });
    expect(compactDiff(TEXT, changes)).toBe(
      [
        "@@ -1,10 +1,10 @@",
        " line 1",
        " line 2",
        "-line 3",
        "+lINE 3",
        " line 4",
        "-line 5",
        "+five",
        " line 6",
        " line 7",
        "-line 8",
        "+eight",
        " line 9",
        " line 10",
      ].join("\n"),
    );
    const oneLine = "abcdef\n";
    expect(compactDiff(oneLine, editsWith({ b: "B", e: "E" }, oneLine))).toBe(
      "@@ -1,1 +1,1 @@\n-abcdef\n+aBcdEf",
    );
  });

  test("counts the changes beyond twenty, and lines beyond the limit", () => {
    const text = `${lines(300).join("\n")}\n`;
    const far = (count: number) =>
      lines(count).map((_, at) => {
        const start = text.indexOf(`line ${at * 10 + 1}\n`);
        return { start, end: start + 4, replacement: "LINE" };
      });
    expect(compactDiff(text, far(20))).not.toContain("not shown");
    expect(compactDiff(text, far(21))).toMatch(/\n\[1 more change is not shown\.\]$/);
    expect(compactDiff(text, far(22))).toMatch(/\n\[2 more changes are not shown\.\]$/);
    const whole = { start: 0, end: text.length, replacement: "" };
    expect(compactDiff(text, [whole])).toBe("[1 more change is not shown.]");
  });

  test("shortens long lines", () => {
    const text = `${"a".repeat(400)}\n`;
    const diff = compactDiff(text, [{ start: 0, end: 1, replacement: "b" }]).split("\n");
    expect(diff[1]).toBe(`-${"a".repeat(299)}...`);
  });
});

describe("fileDiff", () => {
  test("counts all lines and shows those that fit, of a hunk that is cut its first ones", () => {
    const text = `${lines(3000, "a line of some length with the number").join("\n")}\n`;
    const diff = fileDiff("a.txt", text, [{ start: 0, end: text.length, replacement: "" }]);
    const [hunk] = diff.hunks;
    expect(diff).toMatchObject({ added: 0, removed: 3000 });
    expect(diff.hunks).toHaveLength(1);
    expect(hunk).toMatchObject({ oldStart: 1, newStart: 1 });
    expect((hunk?.lines.length ?? 0) + (diff.more ?? 0)).toBe(3000);
    expect(hunk?.lines.join("\n").length).toBeLessThanOrEqual(64 * 1024);
    expect(hunk?.lines.length).toBeGreaterThan(1000);
  });

  test.each([
    ["a\nb", "a\nc", "both"],
    ["a\nb", "a\nb\n", "old"],
    ["a\nb\n", "a\nb", "new"],
    ["a\nb\n", "a\nc\n", undefined],
  ])("reports whether the last lines of %j and %j lack a newline", (before, after, open) => {
    const { hunks } = fileDiff("a.txt", before, after);
    expect(hunks).toHaveLength(1);
    expect(hunks[0]?.noFinalNewline).toBe(open);
    expect(hunks[0]?.lines.some((line) => /[\n\r]/.test(line))).toBe(false);
  });

  test("shows a carriage return only where not every line has one", () => {
    const { hunks } = fileDiff("a.txt", "a\r\nb\r\n", "a\r\nc\r\n");
    expect(hunks[0]?.lines).toEqual([" a", "-b", "+c"]);
    const mixed = fileDiff("a.txt", "a\r\nb\r\n", "a\r\nb\n");
    expect(mixed.hunks[0]?.lines).toEqual([" a\r", "-b\r", "+b"]);
  });

  test("splits changes far apart into hunks with the line numbers of both sides", () => {
    const before = `${lines(20).join("\n")}\n`;
    const after = before.replace("line 2\n", "").replace("line 15\n", "line 15\nnew\nnewer\n");
    const { hunks, added, removed } = fileDiff("a.txt", before, after);
    expect([added, removed]).toEqual([2, 1]);
    expect(hunks.map(({ oldStart, newStart }) => [oldStart, newStart])).toEqual([
      [1, 1],
      [14, 13],
    ]);
    expect(hunks[1]?.lines).toEqual([" line 14", " line 15", "+new", "+newer", " line 16", " line 17"]);
  });
});

test.each([
  ["a\nb\nc\n", "a\nB\nc\n", { start: 2, end: 4, replacement: "B\n" }],
  ["a\na\n", "a\n", { start: 2, end: 4, replacement: "" }],
  ["", "a\n", { start: 0, end: 0, replacement: "a\n" }],
])("finds the lines in which %j and %j differ", (before, after, edit) => {
  expect(editsOf(before, after)).toEqual([edit]);
  expect(editsOf(before, before)).toEqual([]);
});
