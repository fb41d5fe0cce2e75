import { expect, test } from "vitest";
import { applyEdits } from "./applyEdits.js";

const edit = (oldText: string, newText: string, all = false) => ({ oldText, newText, all });

test.each([
  ["one edit", "a b c", [edit("b", "x")], "a x c"],
  ["every occurrence", "a b a", [edit("a", "x", true)], "x b x"],
  ["edits in another order than the text", "a b c", [edit("c", "z"), edit("a", "x")], "x b z"],
  [
    "two words exchanged: each is found in the text as it was",
    "a b",
    [edit("a", "b"), edit("b", "a")],
    "b a",
  ],
  ["a text that looks like a pattern", "a$&b", [edit("$&", "$1$`")], "a$1$`b"],
])("%s", (_what, text, edits, expected) => {
  expect(applyEdits(text, edits, 1000)).toBe(expected);
});

test.each([
  ["is not found", "a b", [edit("c", "x")]],
  ["is nothing", "a b", [edit("", "x")]],
  ["is there twice", "a a", [edit("a", "x")]],
  ["overlaps another", "abc", [edit("ab", "x"), edit("bc", "y")]],
  ["is made once more", "abc", [edit("ab", "x"), edit("ab", "y")]],
])("there is no result if the text of an edit %s", (_what, text, edits) => {
  expect(applyEdits(text, edits, 1000)).toBeUndefined();
});

test("edits made to fill the memory have no result", () => {
  const doubling = Array.from({ length: 60 }, () => edit("a", "aa", true));
  expect(applyEdits("a", doubling, 1000)).toBeUndefined();
  expect(applyEdits("a".repeat(90_000), [edit("a", "x".repeat(1_000_000), true)], 4_000_000)).toBeUndefined();
  expect(applyEdits("a".repeat(1_000_000), doubling, 2 ** 40)).toBeUndefined();
  expect(
    applyEdits(
      "a",
      Array.from({ length: 1_000_000 }, () => edit("a", "b", true)),
      10,
    ),
  ).toBeUndefined();
});
