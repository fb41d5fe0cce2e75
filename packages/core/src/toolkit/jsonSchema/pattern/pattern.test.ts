import { type Random, seededRandom } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { Work } from "../work.js";
import { compilePattern } from "./pattern.js";

const compile = (source: string) => {
  const pattern = compilePattern(source, new Work());
  if (!pattern) throw new Error(`not a regular expression: ${source}`);
  return pattern;
};

/** What the engine says; patterns and texts here are small. */
function expected(source: string, text: string): boolean {
  try {
    return new RegExp(source, "u").test(text);
  } catch {
    return new RegExp(source).test(text);
  }
}

const TEXTS = [
  "",
  "a",
  "b",
  "ab",
  "aab",
  "abab",
  "A-1",
  "é😀",
  "\ud83d",
  "\\c",
  "a b\n",
  "u0041",
  "{1}",
  "k",
  "\u0001",
  "x12",
];

describe("a pattern means what it means to the engine", () => {
  test.each([
    "",
    "^a+$",
    "^(a|b)*$",
    "^(?:ab){1,2}$",
    "a{2,}b",
    "a{0}b",
    "a??b",
    "^.$",
    "[^a]",
    "[]",
    "[^]",
    "[\\]a]",
    "[\\w-]+-\\d",
    "\\bb\\b",
    "\\Bb",
    "a$|^b",
    "(?=a)ab",
    "^(?!a).",
    "(?<=a)b",
    "(?<!a)b",
    "^(?=.*b)(?=.*a).{2,}$",
    "(?<=^(?=a).)b",
    "^(?:(?!ab).)*$",
    "(a)\\1",
    "^(?<x>a|b)\\k<x>$",
    "(?<=\\1(a))b",
    "^(a*)*b",
    "^(?=(a+?))\\1b",
    "(z)?\\1a",
    "\\p{L}\\p{Emoji}",
    "\\u{1f600}",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\x61\\u0062",
    "\\cA",
    "\\0|\\t|\\n",
    // Only without the "u" flag:
    "\\c",
    "\\-",
    "a{x}",
    "a{,2}",
    "\\u00",
    "\\U0041",
    "\\x1",
    "\\1",
    "\\101",
    "\\8|\\k",
    "]",
    "(?=a)*b",
    "[\\c]",
    "x\\12\\-",
  ])("%s", (source) => {
    for (const text of TEXTS)
      expect([text, compile(source).test(text)]).toEqual([text, expected(source, text)]);
  });

  function randomPattern(random: Random, depth: number): string {
    const sub = () => randomPattern(random, depth - 1);
    const leaf = () => random.pick(["a", "b", ".", "[ab]", "[^a]", "\\w", "^", "$", "\\b", "\\B", "é", ""]);
    if (depth === 0) return leaf();
    return random.pick([
      () => sub() + sub(),
      () => sub() + sub() + sub(),
      () => `(?:${sub()}|${sub()})`,
      () => `(${sub()})`,
      () => `(?:${sub()})${random.pick(["*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}?", "{2,}"])}`,
      () => `(?${random.pick(["=", "!", "<=", "<!"])}${sub()})`,
      () => `(${sub()})\\1`,
      leaf,
    ])();
  }

  test("at random", () => {
    const random = seededRandom(11);
    let matching = 0;
    let checked = 0;
    for (let round = 0; round < 3000; round++) {
      const source = randomPattern(random, 4);
      const pattern = compile(source);
      for (let each = 0; each < 8; each++) {
        const text = Array.from({ length: random.below(7) }, () => random.pick(["a", "b", "é", " "])).join(
          "",
        );
        const found = pattern.test(text);
        if (found !== expected(source, text))
          expect.fail(`${source} with ${JSON.stringify(text)}: we say ${found}`);
        matching += found ? 1 : 0;
        checked++;
      }
    }
    expect(matching / checked).toBeGreaterThan(0.2);
    expect(matching / checked).toBeLessThan(0.9);
  });
});
