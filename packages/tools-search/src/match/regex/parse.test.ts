import { describe, expect, test } from "vitest";
import { randomNumbers } from "../../../test/tree.js";
import { parseRegex } from "./parse.js";
import { sufficientStrings, usefulStrings } from "./required.js";

describe("required strings", () => {
  test.each<[string, readonly string[] | undefined]>([
    ["foo\\w+bar", ["bar"]],
    ["\\w+Handler\\(", ["Handler("]],
    ["(foo|bar)\\d", ["foo", "bar"]],
    ["(?:alpha|beta)+", ["alpha", "beta"]],
    ["fo?obar", ["obar"]],
    ["foo(?:bar|baz)\\d", ["foobar", "foobaz"]],
    ["(?:a|b)(?:c|d)\\d", ["ac", "ad", "bc", "bd"]],
    ["foo\\d|foobar|xy", ["foo", "xy"]],
    ["static (int|void) \\w+_probe", ["_probe"]],
    ["\\b(TODO|FIXME)\\b", ["TODO", "FIXME"]],
    [words(64), words(64).split("|")],
    [words(65), undefined],
    [
      `(${words(9)})_(${words(9)})x`,
      words(9)
        .split("|")
        .map((word) => `${word}_`),
    ],
    ["(abc)?d*", undefined],
    ["foo|", undefined],
    ["[a-z]+", undefined],
    ["(?=foo)\\w", undefined],
    ["(?!foo)\\w", undefined],
    ["e\\d", undefined],
    ["caf.é!", ["caf"]],
    ["a{0,3}xyz{2}", ["xy"]],
    ["\\x66oo\\.", ["foo."]],
  ])("finds for %s the strings %j, one of which is in every match", (source, expected) => {
    expect(usefulStrings(parseRegex(source).required)).toEqual(expected);
  });

  test.each<[string, readonly string[] | undefined]>([
    ["TODO|FIXME", ["TODO", "FIXME"]],
    ["foo(?:bar|(?<name>baz|qux))!", ["foobar!", "foobaz!", "fooqux!"]],
    ["EXPORT_SYMBOL|EXPORT_SYMBOL_GPL|EXPORT_SYMBOL", ["EXPORT_SYMBOL"]],
    ["(a|)b", ["b"]],
    ["foo|", undefined],
    ["", undefined],
    ["(foo|bar)+", undefined],
    ["foo|ba?r", undefined],
    ["^foo|bar", undefined],
    ["foo|b.r", undefined],
    ["foo|é", undefined],
    ["(foo|bar)\\1", undefined],
    ["(?=foo)foo|bar", undefined],
  ])("finds for %s the strings %j, one of which is enough for a match", (source, expected) => {
    expect(sufficientStrings(parseRegex(source).required)).toEqual(expected);
  });
});

function words(count: number): string {
  return Array.from({ length: count }, (_, number) => `w${number + 100}`).join("|");
}

describe("mistakes", () => {
  test.each([
    ["foo(bar", 4, "never closed"],
    ["foo)", 4, 'without a "("'],
    ["*a", 1, "nothing to repeat"],
    ["a**", 3, "nothing to repeat"],
    ["a++", 3, "nothing to repeat"],
    ["x[abc", 2, "never closed"],
    ["[z-a]", 4, "out of order"],
    ["a{3,1}", 6, "out of order"],
    ["^*", 2, "nothing to repeat"],
    ["(?i)a", 1, "ignore_case"],
    ["(?P<n>a)", 1, '"(?"'],
    ["ab\\", 3, "escapes nothing"],
    ["\\Qa", 1, "\\Q is not JavaScript"],
    ["a\\u{110000}", 3, "not a character"],
    ["x\\p{Nope}", 8, "not a Unicode property"],
    ["ab\\ncd", 3, "within one line"],
    ["a(b|\\r?\\x0a)", 8, "within one line"],
    ["a\\u{a}", 2, "within one line"],
    ["\\cJ", 1, "within one line"],
  ])("are refused in %s at position %i", (source, position, problem) => {
    expect(() => parseRegex(source)).toThrow(problem);
    expect(() => parseRegex(source)).toThrow(`at position ${position}`);
  });

  test("are refused in ten thousand open groups without a stack overflow", () => {
    expect(() => parseRegex("(".repeat(10_000))).toThrow("nested");
  });
});

test("mixes syntax that is valid only with the u flag with syntax that is valid only without it", () => {
  const { source } = parseRegex(String.raw`\p{Lu}]\u{62}{a}[\w-.]\-`);
  expect(new RegExp(`^(?:${source})$`, "u").test("Ä]b{a}--")).toBe(true);
  expect(new RegExp(`^(?:${source})$`, "u").test("ä]b{a}--")).toBe(false);
});

test("reads in one pass ten thousand brackets that need a backslash", () => {
  const text = "{]}".repeat(3333);
  expect(parseRegex(text).source).toBe("\\{\\]\\}".repeat(3333));
});

test("keeps the meaning of valid JavaScript in all the forms it is compiled to", () => {
  const random = randomNumbers(5);
  const pick = (values: readonly string[]): string => values[random(values.length)] ?? "";
  const atoms =
    String.raw`a b ab . \w \W \d \D \s \S [ab] [^ab] [\s\d] [^\s] [\w-] [a-] [\w-a] [a-\d] [\s-\d] [-a] [--1] [\-a] [.\"] [[{}] \- \_ \" \. \/ [\n] [a\n] [^\n] [\n-\r] \t \x41 A é (a|b) (?:ab) (a)\1 \b \B ] } { {a , (?=a) (?!b) (?<=a) (?<!b) ^ $`.split(
      " ",
    );
  const marks = ["", "", "", "*", "+?", "?", "{2}", "{0,1}"];
  const letters = "abAé \t-.]{}1_\r".split("");
  let valid = 0;
  for (let round = 0; round < 4000; round++) {
    const source = Array.from({ length: 1 + random(4) }, () => pick(atoms) + pick(marks)).join("");
    let reference: RegExp;
    try {
      // Only a line feed ends a line here, so "." stands for all that can be in one.
      reference = new RegExp(source, "s");
    } catch {
      expect(() => new RegExp(parseRegex(source).source, "u")).toThrow();
      continue;
    }
    // JavaScript still lets a look-ahead be repeated for the sake of old pages; we do not.
    if (/\(\?[=!]\w\)[*+?{]/.test(source)) continue;
    valid++;
    const parsed = parseRegex(source);
    const lines = Array.from({ length: 6 }, () =>
      Array.from({ length: random(6) }, () => pick(letters)).join(""),
    );
    for (const line of lines) {
      const expected = reference.test(line);
      expect({ source, line, found: new RegExp(parsed.source, "u").test(line) }).toEqual({
        source,
        line,
        found: expected,
      });
      if (parsed.lineSource === undefined) continue;
      const scan = new RegExp(parsed.lineSource, "gm");
      const text = `${lines[0]}\n${line}\n`;
      for (const found of text.matchAll(scan))
        expect({ source, text, found: found[0] }).not.toMatchObject({ found: expect.stringContaining("\n") });
    }
  }
  expect(valid).toBeGreaterThan(1000);
});
