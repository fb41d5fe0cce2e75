import { expect, test } from "vitest";
import { windowsNameProblem } from "./windowsName.js";

test.each([
  ["NUL", "names a device"],
  ["aux.txt", "names a device"],
  ["src\\Com1.log", "names a device"],
  ["lpt\u00b9", "names a device"],
  ["con .txt", "names a device"],
  ["a.ts:stream", "names a stream"],
  ["C:\\a.txt::$DATA", "names a stream"],
  ["a/b?.txt", "a character that names cannot have"],
  ["secret.env.", "ends with a dot or a space"],
  ["dir /a.txt", "ends with a dot or a space"],
])("refuses %j", (path, problem) => {
  expect(windowsNameProblem(path)).toContain(problem);
});

test.each([
  "a.txt",
  "C:\\dir\\a.txt",
  "C:/dir",
  "./../a",
  "console.ts",
  "auxiliary",
  "com10",
  "nullable.ts",
  "a b.c",
])("takes %j", (path) => {
  expect(windowsNameProblem(path)).toBeUndefined();
});
