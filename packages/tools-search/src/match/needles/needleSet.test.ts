import { describe, expect, test } from "vitest";
import { randomNumbers } from "../../../test/tree.js";
import { PlainWindow } from "../window/plainWindow.js";
import { SimdWindow } from "../window/simdWindow.js";
import { createNeedle } from "./needle.js";
import { NeedleSet } from "./needleSet.js";

const SIZE = 1024;

/** All places, found by looking at each. */
function placesOf(text: string, texts: readonly string[], ignoreCase: boolean): number[] {
  const fold = (of: string) => (ignoreCase ? of.toLowerCase() : of);
  return Array.from(text, (_, at) => at).filter((at) =>
    texts.some((needle) => fold(text).startsWith(fold(needle), at)),
  );
}

describe.each([true, false])("a set of needles (simd: %s)", (simd) => {
  const window = simd ? new SimdWindow(SIZE) : new PlainWindow(Buffer.alloc(SIZE));

  function found(texts: readonly string[], ignoreCase: boolean, from: number, to: number): number[] {
    const next = window.finder(new NeedleSet(texts.map((text) => createNeedle(text, ignoreCase))), to);
    const places: number[] = [];
    for (let at = next(from); at !== -1; at = next(at + 1)) places.push(at);
    return places;
  }

  test.each([1, 2, 3, 8, 9, 30, 64])("finds %i random needles at every position", (count) => {
    const random = randomNumbers(count);
    const letters = "abAB_p@`"; // "p" and "@" share a half with "`" each.
    const word = (length: number) => Array.from({ length }, () => letters[random(letters.length)]).join("");
    for (let round = 0; round < 300; round++) {
      const longest = 1 + random(8);
      const texts = Array.from({ length: count }, () => word(Math.max(1, longest - random(4))));
      // Mostly text in which few of them are, and what is behind its end must not be found.
      const filler = () => ".".repeat(random(60));
      const pieces = Array.from(
        { length: random(9) },
        () => filler() + (texts[random(count)] ?? "") + word(2),
      );
      const text = (pieces.join("") + filler()).slice(0, SIZE);
      const end = window.buffer.write(text, "latin1");
      window.buffer.fill(texts[0] ?? "", end);
      const from = random(Math.min(end, 20) + 1);
      const to = end - random(Math.min(end - from, 20) + 1);
      const ignoreCase = random(2) === 0;
      const expected = placesOf(text.slice(from, to), texts, ignoreCase).map((at) => at + from);
      expect({ texts, text, found: found(texts, ignoreCase, from, to) }).toEqual({
        texts,
        text,
        found: expected,
      });
    }
  });

  test("does not match half a needle at the end of the window", () => {
    window.buffer.fill(".");
    window.buffer.write("one", 0);
    window.buffer.write("four", SIZE - 4);
    const texts = ["one", "two", "three", "four", "fourteen"];
    expect(found(texts, false, 0, SIZE)).toEqual([0, SIZE - 4]);
    expect(found(texts, false, 1, SIZE)).toEqual([SIZE - 4]);
    expect(found(texts, false, 1, SIZE - 1)).toEqual([]);
    expect(found(texts, false, SIZE, SIZE)).toEqual([]);
  });

  test("folds only letters when ignoring case, also beyond ASCII: brackets that differ by the same bit stay different", () => {
    const texts = ["\u00e9t\u00e9", "\u212a", "[x]", "@home"];
    const end = window.buffer.write("{x} `home \u00c9T\u00c9 \u212b \u00e9t\u00e9 \u212a [X] @HOME");
    expect(found(texts, true, 0, end)).toEqual([20, 26, 30, 34]);
  });

  test("gives the same result after changing from one set to another and back", () => {
    const end = window.buffer.write("alpha beta gamma delta alpha");
    const [first, second] = [
      ["alpha", "gamma", "x1"],
      ["beta", "delta", "x2", "x3"],
    ].map((texts) => new NeedleSet(texts.map((text) => createNeedle(text, false)))) as [NeedleSet, NeedleSet];
    expect(window.finder(first, end)(1)).toBe(11);
    expect(window.finder(second, end)(1)).toBe(6);
    expect(window.finder(first, end)(12)).toBe(23);
  });

  test("finds one by one needles that need more memory than there is", () => {
    const texts = Array.from({ length: 70 }, (_, number) => `${"x".repeat(500)}${number}`);
    const end = window.buffer.write(`..${texts[69]}`);
    expect(found(texts, false, 0, end)).toEqual([2]);
  });
});
