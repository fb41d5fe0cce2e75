import { seededRandom } from "@agent/test-support";
import { expect, test } from "vitest";
import {
  firstSentence,
  shorten,
  truncateMiddle,
  truncateUtf8,
  truncateUtf8Start,
  utf8Boundary,
} from "./truncate.js";

const CHARACTERS = ["a", "\n", "é", "€", "中", "😀", "👩", "\u{10ffff}", "\u0301", "\ufffd"];

function randomTexts(count: number): { text: string; limit: number }[] {
  const random = seededRandom(7);
  return Array.from({ length: count }, () => {
    const text = Array.from({ length: random.below(40) }, () => random.pick(CHARACTERS)).join("");
    return { text, limit: random.below(Buffer.byteLength(text) + 4) };
  });
}

/** The straightforward way: whole characters as long as they fit. */
function fitting(characters: readonly string[], limit: number): string[] {
  let size = 0;
  const end = characters.findIndex((character) => {
    size += Buffer.byteLength(character);
    return size > limit;
  });
  return end === -1 ? [...characters] : characters.slice(0, end);
}

test("returns the longest start and end that fit, and never splits a character", () => {
  for (const { text, limit } of randomTexts(5000)) {
    const characters = [...text];
    expect(truncateUtf8(text, limit)).toBe(fitting(characters, limit).join(""));
    expect(truncateUtf8Start(text, limit)).toBe(
      fitting(characters.toReversed(), limit).toReversed().join(""),
    );
  }
});

test("finds the last border of bytes at or before the limit", () => {
  for (const { text, limit } of randomTexts(2000)) {
    const bytes = Buffer.from(text);
    expect(bytes.toString("utf8", 0, utf8Boundary(bytes, limit))).toBe(fitting([...text], limit).join(""));
  }
});

test("cuts bytes that are not text at the limit instead of dropping them", () => {
  expect(utf8Boundary(Buffer.alloc(100, 0x80), 50)).toBe(50);
  expect(utf8Boundary(Buffer.alloc(100, 0xff), 50)).toBe(50);
});

test.each([0, -1, Number.NEGATIVE_INFINITY, Number.NaN])("returns nothing for a limit of %d", (limit) => {
  expect(truncateUtf8("abc", limit)).toBe("");
  expect(truncateUtf8Start("abc", limit)).toBe("");
  expect(utf8Boundary(Buffer.from("abc"), limit)).toBe(0);
});

test("rounds a fraction down to a whole number", () => {
  expect(truncateUtf8("aé", 2.9)).toBe("a");
  expect(truncateUtf8Start("éa", 2.9)).toBe("a");
  expect(utf8Boundary(Buffer.from("abc"), 1.5)).toBe(1);
});

test("returns the text itself without a limit", () => {
  expect(truncateUtf8("aé😀", Number.POSITIVE_INFINITY)).toBe("aé😀");
  expect(truncateUtf8Start("aé😀", Number.POSITIVE_INFINITY)).toBe("aé😀");
});

test("replaces the middle with a notice with exact figures", () => {
  for (const { text, limit } of randomTexts(3000)) {
    const shortened = truncateMiddle(text, limit);
    const size = Buffer.byteLength(text);
    if (size <= limit) {
      expect(shortened).toBe(text);
      continue;
    }
    const found =
      /^(.*)\n\[… truncated: (\d+) of (\d+) bytes left out here\. Ask for less at a time\.\]\n(.*)$/s.exec(
        shortened,
      );
    const [, head = "", cut, whole, tail = ""] = found ?? [];
    expect(Number(whole)).toBe(size);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(cut)).toBe(size);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(limit + 1);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
  }
});

test("ends the notice with the hint given", () => {
  expect(truncateMiddle("x".repeat(100), 8, "Read on with offset.")).toContain(
    "left out here. Read on with offset.]",
  );
});

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["a😀b", 4, "a😀b"],
  ["a😀bc", 4, "a😀…"],
  ["a😀bc", 3, "a…"],
  ["abc", 1, "…"],
  ["abc", 0, "…"],
])("shortens %j to %i characters without half of one", (text, length, expected) => {
  expect(shorten(text, length)).toBe(expected);
});

test.each([
  ["Reads a file. Returns its text.", "Reads a file."],
  ["Version 1.5 reads\n  a file! Really", "Version 1.5 reads a file!"],
  ["no end", "no end"],
  ["", ""],
  ["It is far too long to be shown whole", "It is far too long to be show…"],
])("takes the first sentence of %j", (text, expected) => {
  expect(firstSentence(text, 30)).toBe(expected);
});
