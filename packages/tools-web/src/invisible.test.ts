import { expect, test } from "vitest";
import { withoutInvisible } from "./invisible.js";

test.for([
  ["control characters", "a\u001b[31mb\u009bc\u0000", "a[31mbc", 3],
  ["marks that reorder text", "\u202edcba\u202c", "dcba", 2],
  ["tag characters", "a\u{e0041}\u{e0042}", "a", 2],
  ["letters that show nothing", "a\u3164\u115f\uffa0\u034fb", "ab", 4],
  ["text in variation selectors", `😀${"\ufe01\u{e0110}\u{e0111}".repeat(2)}!`, "😀\ufe01!", 5],
  ["a selector for ideographs elsewhere", "a\u{e0120}b", "ab", 1],
  ["text in joiners", "a\u200c\u200d\u200d\u200cb", "a\u200cb", 3],
  ["soft hyphens, without counting them", "hy\u00adphen", "hyphen", 0],
] as const)("removes %s", ([, text, expected, removed]) => {
  expect(withoutInvisible(text)).toEqual({ text: expected, removed });
});

test.for([
  "line one\n\tline two\r\n",
  "❤️‍🔥 👩‍👩‍👧 1️⃣ 🏳️‍🌈",
  "می\u200cخواهم ക്\u200d",
  "葛\u{e0100}飾",
  "ᠠ\u180bᠡ",
  "\u0600\u0661",
])("keeps %j", (text) => {
  expect(withoutInvisible(text)).toEqual({ text, removed: 0 });
});

test("removes runs of millions", () => {
  for (const character of ["\u0001", "\u200d", "\u{e0100}"])
    expect(withoutInvisible(character.repeat(3_000_000)).text.length).toBeLessThanOrEqual(1);
});
