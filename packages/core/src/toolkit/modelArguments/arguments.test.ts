import { describe, expect, test } from "vitest";
import {
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalStringArray,
  requireString,
} from "./arguments.js";

const present = { text: "abc", empty: "", yes: false, count: 0, list: ["a", ""], none: [] };

test("returns what fits unchanged", () => {
  expect(requireString(present, "text")).toBe("abc");
  expect(requireString(present, "empty", { allowEmpty: true })).toBe("");
  expect(optionalString(present, "text", "x")).toBe("abc");
  expect(optionalBoolean(present, "yes", true)).toBe(false);
  expect(optionalInteger(present, "count", 5)).toBe(0);
  expect(optionalStringArray(present, "list", undefined)).toEqual(["a", ""]);
  expect(optionalStringArray(present, "none", ["x"])).toEqual([]);
});

test("uses the fallback for what is absent or undefined", () => {
  for (const args of [{}, { a: undefined }]) {
    expect(optionalString(args, "a", "x")).toBe("x");
    expect(optionalString(args, "a", undefined)).toBeUndefined();
    expect(optionalBoolean(args, "a", true)).toBe(true);
    expect(optionalInteger(args, "a", 7)).toBe(7);
    expect(optionalStringArray(args, "a", [])).toEqual([]);
  }
});

describe("what does not fit is an error that names the argument, what was expected and what came", () => {
  test.each<[string, (args: Record<string, unknown>) => unknown, unknown, string]>([
    ["missing", (args) => requireString(args, "a"), undefined, '"a" is required: a string.'],
    ["empty", (args) => requireString(args, "a"), "", '"a" must be a non-empty string, got an empty string.'],
    [
      "null",
      (args) => requireString(args, "a", { allowEmpty: true }),
      null,
      '"a" must be a string, got null.',
    ],
    ["a number", (args) => requireString(args, "a"), 42, '"a" must be a string, got number 42.'],
    [
      "an empty optional",
      (args) => optionalString(args, "a", "x"),
      "",
      '"a" must be a non-empty string, got an empty string.',
    ],
    [
      "a word for a boolean",
      (args) => optionalBoolean(args, "a", true),
      "yes",
      '"a" must be true or false, got string "yes".',
    ],
    [
      "a fraction",
      (args) => optionalInteger(args, "a", 1),
      1.5,
      '"a" must be a whole number of at least 0, got number 1.5.',
    ],
    [
      "NaN",
      (args) => optionalInteger(args, "a", 1),
      Number.NaN,
      '"a" must be a whole number of at least 0, got number NaN.',
    ],
    [
      "too large",
      (args) => optionalInteger(args, "a", 1, { min: 1, max: 9 }),
      10,
      '"a" must be a whole number from 1 to 9, got number 10.',
    ],
    [
      "too small",
      (args) => optionalInteger(args, "a", 1, { min: 1 }),
      0,
      '"a" must be a whole number of at least 1, got number 0.',
    ],
    [
      "beyond exact",
      (args) => optionalInteger(args, "a", 1),
      2 ** 53,
      '"a" must be a whole number of at least 0, got number 9007199254740992.',
    ],
    [
      "digits",
      (args) => optionalInteger(args, "a", 1),
      "5",
      '"a" must be a whole number of at least 0, got string "5".',
    ],
    [
      "a string for a list",
      (args) => optionalStringArray(args, "a", []),
      "src",
      '"a" must be an array of strings, got string "src".',
    ],
    [
      "a wrong item",
      (args) => optionalStringArray(args, "a", []),
      ["x", 4],
      '"a[1]" must be a string, got number 4.',
    ],
    ["a hole", (args) => optionalStringArray(args, "a", []), [undefined], '"a[0]" is required: a string.'],
  ])("%s", (_name, read, value, message) => {
    expect(() => read({ a: value })).toThrow(new Error(message));
  });
});
