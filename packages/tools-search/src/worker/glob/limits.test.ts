import { expect, test } from "vitest";
import { checkGlob, countExpansions } from "./limits.js";

test.each([
  ["*.ts", 1],
  ["*.{ts,js}", 2],
  ["{a,b}{c,d}", 4],
  ["{a,{b,c}}", 3],
  ["{a,b{1..3}}", 4],
  ["{1..100..10}", 10],
  ["{a..e}", 5],
  ["\\{a,b\\}", 1],
  ["{a", 1],
  ["a}b", 1],
])("counts %s as %i patterns", (pattern, count) => {
  expect(countExpansions(pattern)).toBe(count);
});

test("refuses, with its size and what to do, a glob that explodes", () => {
  expect(() => checkGlob("{a,b}".repeat(26), "pattern")).toThrow(/"pattern".*67,108,864.*Use \*/);
  expect(() => checkGlob("x".repeat(5000), "glob")).toThrow(/"glob" has 5000 characters/);
});
