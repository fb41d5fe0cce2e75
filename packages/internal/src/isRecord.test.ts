import { expect, test } from "vitest";
import { isRecord } from "./isRecord.js";

test.each<[what: string, value: unknown]>([
  ["an object", {}],
  ["an object without a prototype", Object.create(null)],
  ["an instance of a class", new (class Point {})()],
])("accepts %s as a record", (_what, value) => {
  expect(isRecord(value)).toBe(true);
});

test.each<[what: string, value: unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["an array", ["a"]],
  ["a function", () => undefined],
  ["a string", "text"],
  ["a number", 4],
])("does not accept %s as a record", (_what, value) => {
  expect(isRecord(value)).toBe(false);
});
