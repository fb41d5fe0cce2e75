import { expect, test } from "vitest";
import {
  afterNewline,
  BYTE_NEWLINE,
  countNewlines,
  lastLineEnd,
  UTF16BE_NEWLINE,
  UTF16LE_NEWLINE,
} from "./newlines.js";

test("counts newlines right at every length and alignment, and takes no other byte for one", () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256));
  for (let start = 0; start < 9; start++) {
    for (const length of [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 1019, 1020, 1021, 4000]) {
      const part = bytes.subarray(start, start + length);
      const expected = part.filter((byte) => byte === 10).length;
      expect(countNewlines(part, BYTE_NEWLINE)).toBe(expected);
    }
  }
});

test("counts a text of newlines only without overflow", () => {
  expect(countNewlines(Buffer.alloc(100_003, 10), BYTE_NEWLINE)).toBe(100_003);
});

test("counts only a whole newline in UTF-16", () => {
  const little = Buffer.from("ਊ\nĊ\n", "utf16le");
  expect(countNewlines(little, UTF16LE_NEWLINE)).toBe(2);
  expect(countNewlines(Buffer.from(little).swap16(), UTF16BE_NEWLINE)).toBe(2);
  expect(afterNewline(little, 1, UTF16LE_NEWLINE)).toBe(4);
  expect(lastLineEnd(little, 7, UTF16LE_NEWLINE)).toBe(4);
});

test("finds the position after the n-th and after the last newline", () => {
  const bytes = Buffer.from("a\nbc\nd");
  expect([0, 1, 2, 3].map((count) => afterNewline(bytes, count, BYTE_NEWLINE))).toEqual([0, 2, 5, -1]);
  expect([0, 1, 2, 5, 6].map((end) => lastLineEnd(bytes, end, BYTE_NEWLINE))).toEqual([0, 0, 2, 5, 5]);
});

test("finds the position after any newline, however many are before it and however close they are", () => {
  const bytes = Buffer.from(`${"\n".repeat(10_000)}${"x".repeat(20_000)}\n${"ab\n".repeat(5000)}end`);
  const positions = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
  for (const count of [1, 4095, 4096, 4097, 10_000, 10_001, 10_002, 15_001]) {
    expect(afterNewline(bytes, count, BYTE_NEWLINE)).toBe(positions[count - 1]);
  }
  expect(afterNewline(bytes, 15_002, BYTE_NEWLINE)).toBe(-1);
  const wide = Buffer.from(bytes.toString("latin1"), "utf16le");
  expect(afterNewline(wide, 10_002, UTF16LE_NEWLINE)).toBe(2 * (positions[10_001] ?? 0));
});
