import { expect, test } from "vitest";
import { asToolName, contextType, isToolName } from "./tool.js";

test.each([
  ["read_file", true],
  ["A-b_9", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["", false],
  ["a b", false],
  ["é", false],
])("accepts as the name of a tool only what servers accept: %j", (name, isName) => {
  expect(isToolName(name)).toBe(isName);
});

test.each([
  ["functions.read file", "functions_read_file"],
  ["a".repeat(70), "a".repeat(64)],
  ["", "unknown"],
])("turns the name %j of a model into one that servers accept", (name, expected) => {
  expect(asToolName(name)).toBe(expected);
  expect(isToolName(asToolName(name))).toBe(true);
});

test("takes any context but a missing one for a type", () => {
  const { validate } = contextType<{ user: string }>()["~standard"];
  expect(validate({ user: "ann" })).toEqual({ value: { user: "ann" } });
  expect(validate(undefined)).toEqual({ issues: [{ message: "it is missing" }] });
});
