import { PLAIN_STYLE } from "@agent/terminal/host";
import { expect, test } from "vitest";
import { sessionDiff } from "./sessionDiff.js";
import type { ChangedFile } from "./undoLog.js";

const diff = (...files: ChangedFile[]): string[] => sessionDiff(files, "/p", PLAIN_STYLE);
const text = (lines: number, change = ""): Buffer =>
  Buffer.from(Array.from({ length: lines }, (_, at) => `${at === 9 ? change : ""}line ${at + 1}\n`).join(""));

test("shows changed lines with three around them, and names each of several files", () => {
  const lines = diff(
    { path: "/p/a.txt", before: text(20), after: text(20, "new ") },
    { path: "/p/b\x1b.txt", before: undefined, after: Buffer.from("one\n") },
    { path: "/p/gone.txt", before: Buffer.from("old\n"), after: undefined },
  );
  expect(lines).toEqual([
    "a.txt  +1 −1",
    " 7  line 7",
    " 8  line 8",
    " 9  line 9",
    "10 -line 10",
    "10 +new line 10",
    "11  line 11",
    "12  line 12",
    "13  line 13",
    "created b\\x1b.txt  +1",
    " 1 +one",
    "deleted gone.txt  −1",
    " 1 -old",
  ]);
});

test("separates changes that are far apart, and names a single file too", () => {
  const after = text(40, "new ").toString().replace("line 40", "end");
  const lines = diff({ path: "/p/a.txt", before: text(40), after: Buffer.from(after) });
  expect(lines[0]).toBe("a.txt");
  expect(lines).toContain("   ⋮");
  expect(lines).toContain("40 +end");
});

test("says how much of many files is not shown", () => {
  const files = Array.from({ length: 600 }, (_, index) => ({
    path: `/p/${index}`,
    before: undefined,
    after: Buffer.from("a\nb\nc\n"),
  }));
  const lines = diff(...files);
  expect(lines.at(-1)).toMatch(/^… \d+ more lines\. git diff/);
  const shown = lines.length - 1;
  expect(diff(...files.slice(0, Math.floor(shown / 4))).at(-1)).not.toContain("git diff");
});

test("treats UTF-8 without a zero byte as text, up to a size", () => {
  const isText = (content: Buffer): boolean =>
    !diff({ path: "/p/x", before: undefined, after: content })[0]?.includes("→");
  expect(isText(Buffer.from("é\n"))).toBe(true);
  expect(isText(Buffer.from([0xff, 0xfe]))).toBe(false);
  expect(isText(Buffer.from("a\0"))).toBe(false);
  expect(isText(Buffer.alloc(1024 * 1024, "a"))).toBe(true);
  expect(isText(Buffer.alloc(1024 * 1024 + 1, "a"))).toBe(false);
});

test("describes what is not a text", () => {
  expect(
    diff(
      { path: "/p/x.bin", before: Buffer.from([0, 1]), after: Buffer.from([0, 1, 2]) },
      { path: "/p/link", before: undefined, after: { other: "link" } },
    ),
  ).toEqual(["x.bin  2 bytes → 3 bytes", "link  nothing → link"]);
  expect(diff()).toEqual(["This session has changed no tracked file."]);
});

test("bounds what it shows of a file that was rewritten", () => {
  const other = Buffer.from(text(30_000).toString().replaceAll("line", "other"));
  const lines = diff({ path: "/p/a.txt", before: text(30_000), after: other });
  expect(lines.length).toBeLessThan(500);
  expect(lines.at(-1)).toMatch(/^… 59600 more lines of the change$/);
});
