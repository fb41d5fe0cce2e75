import { expect, test } from "vitest";
import { unsavedText } from "./unsavedText.js";

test.each([
  ["one\ntwo\n", "one\ntwo\n", undefined],
  ["one\r\ntwo\r\n", "one\ntwo\n", undefined],
  ["one\ntwo\n", "one\nTWO\n", "one\nTWO\n"],
  ["one\r\ntwo\r\n", "one\nTWO\n", "one\r\nTWO\r\n"],
  ["one\r\ntwo\r\n", "one\r\nTWO\n", "one\r\nTWO\n"],
  ["one\r\ntwo\n", "one\nTWO\n", "one\nTWO\n"],
  ["one", undefined, undefined],
  ["one", { content: "two" }, undefined],
])("finds for a file with %j that an editor shows as %j the unsaved text %j", (onDisk, inEditor, unsaved) => {
  expect(unsavedText(onDisk, inEditor)).toBe(unsaved);
});
