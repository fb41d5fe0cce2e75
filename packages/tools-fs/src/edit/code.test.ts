import { describe, expect, test } from "vitest";
import { type CodeKind, codeOf, literalLines } from "./code.js";

/** The line with `·` for each hidden character. */
const shown = (line: string, kind?: CodeKind): string => codeOf(line, kind).replaceAll("\0", "·");

describe("codeOf", () => {
  test.each<[string, string]>([
    ['f("a b", 1);', "f(·····, 1);"],
    ["f('a', `b`);", "f(···, ···);"],
    ["x = a / b / c;", "x = a / b / c;"],
    ["x = /a[/]b/;", "x = ·······;"],
    ["f(); // rest", "f(); ·······"],
    ["f(/* a */ b);", "f(······· b);"],
    ["don't do that", "don't do that"],
    ["fn f<'a>(b: &'a str)", "fn f<··>(b: &·· str)"],
    ["x = 1 # rest", "x = 1 ······"],
    ["x -- rest", "x ·······"],
    ["<b>text</b>", "<b>text</b>"],
  ])("hides strings, expressions and comments of %j", (line, code) => {
    expect(shown(line)).toBe(code);
  });

  test("hides text between tags in markup only", () => {
    expect(shown("<b>text</b>", { isMarkup: true })).toBe("<b>····</b>");
  });

  test("recognizes only the comments of the language where they are known", () => {
    expect(shown("a # b // c", { comments: "hash" })).toBe("a ········");
    expect(shown("a // b", { comments: "hash" })).toBe("a // b");
    expect(shown("a # b // c", { comments: "slashes" })).toBe("a # b ····");
  });

  test("treats no part of a line of more than 1000 characters as code", () => {
    expect(codeOf("f(1);".repeat(200))).toBe("f(1);".repeat(200));
    expect(codeOf(`${"f(1);".repeat(200)};`)).toBe("\0".repeat(1001));
  });
});

describe("literalLines", () => {
  test.each<[string, (number | undefined)[]]>([
    ['a = """\nb\nc"""\nd', [undefined, 0, 0, undefined]],
    ["a = '''\nb'''\nc", [undefined, 0, undefined]],
    ["a = `\nb\\`\nc`\nd", [undefined, 0, 0, undefined]],
    ["a = `b`\nc", [undefined, undefined]],
    ["cat <<EOF\na\n EOF\nb", [undefined, 0, 0, undefined]],
    ["cat <<-'END_1'\nEOF\nEND_1\nb", [undefined, 0, 0, undefined]],
    ["/* a\nb */\nc", [undefined, undefined, undefined]],
  ])("names the line in which each literal of %j begins", (text, lines) => {
    expect(literalLines(text.split("\n"))).toEqual(lines);
  });

  test("treats comments of several lines as literals if asked", () => {
    expect(literalLines(["a", "/* b", "c */", "d", "/* e */", "f"], true)).toEqual([
      undefined,
      undefined,
      1,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
