import { describe, expect, test } from "vitest";
import { randomNumbers } from "../../../test/tree.js";
import { createClassNeedle, createNeedle, MAX_RUN } from "../needles/needle.js";
import { PlainWindow } from "./plainWindow.js";
import { SimdWindow } from "./simdWindow.js";
import { createWindow } from "./window.js";

const SIZE = 4096;

function randomClasses(random: (below: number) => number): string[] {
  return Array.from({ length: 1 + random(6) }, () => [..."aAbB\nk "].filter(() => random(2) === 0).join(""));
}

describe("both kinds of window", () => {
  test("give the same answers on random text with a small alphabet", () => {
    const simd = new SimdWindow(SIZE);
    const plain = new PlainWindow(Buffer.alloc(SIZE));
    const random = randomNumbers(7);
    for (let round = 0; round < 3000; round++) {
      const length = random(round % 8 === 0 ? SIZE : 400);
      for (let i = 0; i < SIZE; i++) simd.buffer[i] = "aAbB\nk "[random(7)]?.charCodeAt(0) ?? 0;
      simd.buffer.copy(plain.buffer);
      const from = random(length + 1);
      const text = Array.from({ length: 1 + random(5) }, () => "aAbBk"[random(5)]).join("");
      const needle =
        random(3) === 0 ? createClassNeedle(randomClasses(random)) : createNeedle(text, random(2) === 0);
      expect(simd.find(needle, from, length)).toBe(plain.find(needle, from, length));
      expect(simd.nextNewline(from, length)).toBe(plain.nextNewline(from, length));
      expect(simd.lastNewline(from, length)).toBe(plain.lastNewline(from, length));
      expect(simd.countNewlines(from, length)).toBe(plain.countNewlines(from, length));
    }
  });

  test.each([true, false])("match exactly the characters of a class (simd: %s)", (simd) => {
    const window = createWindow(256, simd);
    for (let byte = 0; byte < 256; byte++) window.buffer[byte] = byte;
    const found = (members: string) => {
      const needle = createClassNeedle([members]);
      const places: number[] = [];
      for (let at = window.find(needle, 0, 256); at !== -1; at = window.find(needle, at + 1, 256))
        places.push(at);
      return String.fromCharCode(...places);
    };
    for (const members of ["", "_", "09AZaz", "\0\x7f", "\t\n !/:@[`{~"])
      expect(found(members)).toBe(members);
  });

  test.each([true, false])("find a run of any length wherever it is (simd: %s)", (simd) => {
    const window = createWindow(SIZE, simd);
    const random = randomNumbers(11);
    for (let round = 0; round < 4000; round++) {
      const length = 1 + random(MAX_RUN);
      const needle = createClassNeedle(Array.from({ length }, () => "ab"));
      expect(needle.kind).toBe("run");
      // About as long as what is looked for, so that runs of one too few are met as often.
      const piece = () => "ab".repeat(MAX_RUN).slice(0, random(length + 3)) + "-.\n\u00e9"[random(4)];
      const text = Array.from({ length: random(20) }, piece).join("") + "a".repeat(random(40));
      const end = window.buffer.write(text, "latin1");
      window.buffer.fill("a", end, end + MAX_RUN);
      const from = random(20);
      const expected = text.slice(from).search(new RegExp(`[ab]{${length}}`));
      expect(window.find(needle, from, Math.max(from, end))).toBe(expected === -1 ? -1 : expected + from);
    }
  });

  test.each([true, false])("count a window that contains nothing but line breaks (simd: %s)", (simd) => {
    const window = createWindow(SIZE, simd);
    window.buffer.fill("\n");
    for (const from of [0, 1, 15, 16, 17]) {
      for (const to of [from, from + 1, 1024, 1040, 2049, SIZE - 1, SIZE]) {
        expect(window.countNewlines(from, to)).toBe(to - from);
      }
    }
  });

  test.each([true, false])("find a needle at the very start and the very end (simd: %s)", (simd) => {
    const window = createWindow(64, simd);
    window.buffer.fill(".");
    window.buffer.write("xy", 0);
    window.buffer.write("xy", 62);
    const needle = createNeedle("xy", false);
    expect(window.find(needle, 0, 64)).toBe(0);
    expect(window.find(needle, 1, 64)).toBe(62);
    expect(window.find(needle, 1, 63)).toBe(-1);
    expect(window.find(needle, 63, 64)).toBe(-1);
  });
});

test("compares first the bytes of a needle that are rarest in the text", () => {
  const { bytes, rare } = createNeedle("return ZQ", false);
  expect(rare.map((place) => String.fromCharCode(bytes[place] ?? 0)).sort()).toEqual(["Q", "Z"]);
});
