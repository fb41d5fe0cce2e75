import { afterEach, describe, expect, test, vi } from "vitest";
import { COLOR_STYLE } from "../text/style.js";
import { expandTabs, graphemes } from "../text/width.js";
import { AnswerStream } from "./answerStream.js";

afterEach(() => vi.restoreAllMocks());

describe("text made to be slow is shown in time that grows with its length", () => {
  test("segments no long text in one piece", () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    const letters = graphemes("ж\u0301".repeat(5000));
    expect(letters).toEqual(Array(5000).fill("ж\u0301"));
    expect(Math.max(...segment.mock.calls.map(([text]) => text.length))).toBeLessThanOrEqual(256);
    expect(segment.mock.calls.reduce((sum, [text]) => sum + text.length, 0)).toBeLessThan(12_000);
  });

  test("never cuts a character between two slices", () => {
    const family = "👨‍👩‍👧‍👦";
    for (let before = 0; before < family.length; before++) {
      const text = `${"ж".repeat(before)}${family.repeat(200)}`;
      expect(graphemes(text)).toEqual([...Array(before).fill("ж"), ...Array(200).fill(family)]);
    }
  });

  test("cuts a letter with more accents than a slice holds at some point", () => {
    const letters = graphemes(`a${"\u0301".repeat(2000)}b`);
    expect(letters.join("")).toBe(`a${"\u0301".repeat(2000)}b`);
    expect(letters.at(-1)).toBe("b");
  });

  test("needs no segmenting at all for letters of Cyrillic, Greek and Chinese", () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    expect(graphemes("Привет, Ωμέγα, 你好 é")).toHaveLength(19);
    expect(segment).not.toHaveBeenCalled();
  });

  test("expands tabs by the column they stand in", () => {
    expect(expandTabs("a\tж\t\tb")).toBe(`a${" ".repeat(7)}ж${" ".repeat(7)}${" ".repeat(8)}b`);
    expect(expandTabs("é\t".repeat(20_000))).toHaveLength(160_000);
  });

  test("does not pile up style codes for emphasis marks from row to row", () => {
    const answer = new AnswerStream(COLOR_STYLE);
    const line = "*a* ".repeat(490);
    for (let count = 0; count < 100; count++) answer.add(`${line}\n`);
    const rows = answer.finish(80);
    const longest = Math.max(...rows.map((row) => row.length));
    // Eighty columns hold twenty marked letters with six codes each.
    expect(longest).toBeLessThan(1500);
  });
});
