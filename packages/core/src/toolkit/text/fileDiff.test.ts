import { expect, test } from "vitest";
import { isFileDiff } from "../../tools/callDescription.js";
import { applyEdits, compactDiff } from "./compactDiff.js";
import { fileDiff } from "./fileDiff.js";

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join("");

test("shows a change with two lines around it, by the new text or by the edits", () => {
  const text = numbered(9);
  const edits = [{ start: text.indexOf("5"), end: text.indexOf("6"), replacement: "five\n5b\n" }];
  const diff = fileDiff("/a", text, edits);
  expect(diff).toEqual({
    path: "/a",
    change: "edited",
    added: 2,
    removed: 1,
    hunks: [{ oldStart: 3, newStart: 3, lines: [" 3", " 4", "-5", "+five", "+5b", " 6", " 7"] }],
  });
  expect(fileDiff("/a", text, applyEdits(text, edits))).toEqual(diff);
  expect(compactDiff(text, edits)).toBe("@@ -3,5 +3,6 @@\n 3\n 4\n-5\n+five\n+5b\n 6\n 7");
});

test("shows created and deleted files, and none of a change that changes nothing", () => {
  const created = fileDiff("/a", "", "one\ntwo\n", { change: "created" });
  expect(created).toMatchObject({ change: "created", added: 2, removed: 0 });
  expect(created.hunks[0]?.lines).toEqual(["+one", "+two"]);
  const deleted = fileDiff("/a", "one\n", "", { change: "deleted" });
  expect(deleted).toMatchObject({ change: "deleted", added: 0, removed: 1 });
  expect(fileDiff("/a", "one\n", "one\n")).toMatchObject({ added: 0, removed: 0, hunks: [] });
});

test("is one that hosts accept, however long it is", () => {
  const diff = fileDiff("/a", "", `${"x".repeat(99)}\n`.repeat(2000));
  expect(diff.more).toBeGreaterThan(1000);
  expect(isFileDiff(JSON.parse(JSON.stringify(diff)))).toBe(true);
});
