import { expect, test } from "vitest";
import { utf8Boundary } from "./truncate.js";

test("utf8Boundary steps back to the start of a character", () => {
  const bytes = Buffer.from("a€😀");
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((limit) => utf8Boundary(bytes, limit))).toEqual([
    0, 1, 1, 1, 4, 4, 4, 4, 8, 8,
  ]);
});

test("utf8Boundary cuts at the limit where the bytes are no text, instead of dropping them all", () => {
  expect(utf8Boundary(Buffer.alloc(100, 0x80), 60)).toBe(60);
});
