import { expect, test } from "vitest";
import { isNestedDeeper } from "./jsonDepth.js";

test("brackets and braces count, those in texts do not", () => {
  expect(isNestedDeeper("[[1]]", 2)).toBe(false);
  expect(isNestedDeeper("[[[1]]]", 2)).toBe(true);
  expect(isNestedDeeper('{"a":{"b":[]}}', 2)).toBe(true);
  expect(isNestedDeeper('{"a":"[[[[[[{{{"}', 2)).toBe(false);
  expect(isNestedDeeper('{"a":"\\"[[[[","b":[]}', 2)).toBe(false);
  expect(isNestedDeeper("[],[],[],[]", 2)).toBe(false);
});

test("counts also a text that is never closed", () => {
  expect(isNestedDeeper("[".repeat(1_000_000), 1000)).toBe(true);
  expect(isNestedDeeper("{", 0)).toBe(true);
});
