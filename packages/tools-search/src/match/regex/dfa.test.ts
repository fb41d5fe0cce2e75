import { describe, expect, test } from "vitest";
import { randomNumbers } from "../../../test/tree.js";
import type { ByteWindow } from "../window/byteWindow.js";
import { createWindow } from "../window/window.js";
import { characterSet } from "./characterSet.js";
import { buildDfa, type Dfa } from "./dfa.js";
import { parseRegex } from "./parse.js";

const random = randomNumbers(23);
const pick = (values: readonly string[]): string => values[random(values.length)] ?? "";
const WINDOWS = [
  ["with vectors", createWindow(65_536)],
  ["without", createWindow(65_536, false)],
] as const;

function automatonOf(expression: string, ignoreCase = false, isUtf8 = false): Dfa | undefined {
  const { tree, asksForReturn } = parseRegex(expression);
  return tree && buildDfa(tree, { ignoreCase, keepReturn: asksForReturn, isUtf8 });
}

/** The numbers of the lines that match, and of those about which the DFA is not sure. */
function decide(window: ByteWindow, dfa: Dfa, text: string) {
  const end = window.buffer.write(text);
  const found: { sure: number[]; unsure: number[] } = { sure: [], unsure: [] };
  for (let from = 0; from < end; ) {
    const place = window.decide(dfa, from, end);
    if (place === -1) break;
    const at = place >> 1;
    expect(at).toBeGreaterThanOrEqual(from);
    expect(at).toBeLessThanOrEqual(end);
    found[place & 1 ? "unsure" : "sure"].push(window.countNewlines(0, at));
    from = window.nextNewline(at, end) + 1;
  }
  return found;
}

/** Line by line with JavaScript's RegExp. */
function byExpression(expression: string, ignoreCase: boolean, text: string): number[] {
  const { source, asksForReturn } = parseRegex(expression);
  const tester = new RegExp(source, ignoreCase ? "iu" : "u");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((line, number) =>
    tester.test(asksForReturn ? line : line.replace(/\r$/, "")) ? [number] : [],
  );
}

const ATOMS =
  String.raw`a b _ - \d \w \s \S \W \D . [a-f] [^a-f] [^a] [A-Z] \x41 (a|_) (?:-|ab) (?:(a+)+) [k-s] [] é [é_] \p{L} \r [^\r]`.split(
    " ",
  );
const MARKS = ["", "", "", "", "+", "{2}", "{1,3}", "{2,}", "*", "?", "+?", "{0}"];
const LETTERS = [..."aabbAB__-19  .;k\r", "\r\n", "\n", "\n"];

function randomExpression(): string {
  const part = (): string => pick(["", "", "", "", "\\b", "\\B", "^", "$"]) || pick(ATOMS) + pick(MARKS);
  const sequence = (): string => Array.from({ length: 1 + random(5) }, part).join("");
  return `${pick(["", "", "^"])}${sequence()}${random(5) === 0 ? `|${sequence()}` : ""}${pick(["", "", "$"])}`;
}

describe.each(WINDOWS)("a DFA, %s", (_, window) => {
  test.each([
    ["^\\w+$", "one\ntwo words\nthree\r\n\nlast", [0, 2, 4]],
    ["^$", "a\n\n\r\nb\n", [1, 2]],
    ["x*", "a\n\nb", [0, 1, 2]],
    ["\\s+$", "a \nb\nc\t\r\nd\r\n ", [0, 2, 4]],
    ["\\bfoo\\b", "a foo.\nfood\nfoo", [0, 2]],
    ["\\b^foo$\\b", "foo\nfoo \n foo", [0]],
    ["(a+)+$", `${"a".repeat(60)}b\n${"a".repeat(60)}`, [1]],
    ["\\r", "a\r\nb\nc\rd\n", [0, 2]],
    ["a.b", "a\rb\r\nab\na\r\n", [0]],
    [".{5,}", "1234\n12345\r\n1234\r\n", [1]],
    ["[]", "a\n", []],
  ])("%j decides about the lines of %j", (expression, text, expected) => {
    const dfa = automatonOf(expression);
    expect(dfa && decide(window, dfa, text)).toEqual({ sure: expected, unsure: [] });
  });

  test("agrees with JavaScript's RegExp about random expressions and lines", () => {
    let matched = 0;
    for (let round = 0; round < 3000; round++) {
      const expression = randomExpression();
      const ignoreCase = random(4) === 0;
      const dfa = automatonOf(expression, ignoreCase);
      if (dfa === undefined) throw new Error(`${expression} has no dfa`);
      const text = Array.from({ length: random(120) }, () => pick(LETTERS)).join("");
      const expected = byExpression(expression, ignoreCase, text);
      matched += expected.length;
      const found = { expression, ignoreCase, text, ...decide(window, dfa, text) };
      expect(found).toEqual({ expression, ignoreCase, text, sure: expected, unsure: [] });
    }
    expect(matched).toBeGreaterThan(5000);
  });

  test.each([false, true])("is never wrong about text beyond ASCII (known to be UTF-8: %s)", (isUtf8) => {
    let sureOnes = 0;
    for (let round = 0; round < 3000; round++) {
      const expression = randomExpression();
      const ignoreCase = random(3) === 0;
      const dfa = automatonOf(expression, ignoreCase, isUtf8);
      if (dfa === undefined) throw new Error(`${expression} has no dfa`);
      const letters = [
        ...LETTERS,
        "é",
        "日",
        "\u017f",
        "\u212a",
        "\u2028",
        "\u00a0",
        "\u3000",
        "\u3001",
        "😀",
      ];
      const text = Array.from({ length: random(120) }, () => pick(letters)).join("");
      const { sure, unsure } = decide(window, dfa, text);
      const lines = text.split("\n");
      expect(unsure.filter((number) => /^[\0-\x7f]*$/.test(lines[number] ?? ""))).toEqual([]);
      const expected = byExpression(expression, ignoreCase, text).filter((line) => !unsure.includes(line));
      expect({ expression, ignoreCase, text, sure }).toEqual({
        expression,
        ignoreCase,
        text,
        sure: expected,
      });
      sureOnes += sure.length;
    }
    expect(sureOnes).toBeGreaterThan(isUtf8 ? 4000 : 2000);
  });
});

test.each([
  ["(?=a)b", "a look-around"],
  ["(a)\\1", "a reference back"],
  ["[ab][^]{20}c", "a number of states that doubles with each character"],
  ["\\w{2000}", "very many steps"],
])("builds no DFA for %s, because of %s", (expression) => {
  expect(automatonOf(expression)).toBeUndefined();
});

test("is never undecided for an expression that no character beyond ASCII can decide", () => {
  const [[, window]] = WINDOWS;
  const dfa = automatonOf("[a-z]{3}\\b");
  expect(dfa && decide(window, dfa, "é abc\nab é\nabcé\n")).toEqual({ sure: [0, 2], unsure: [] });
});

test.each([
  [".{3,}", "éé\nééé\n日本\n日本語\n😀😀\n😀😀😀\n", [1, 3, 5], []],
  ["^[^a]$", "é\na\n日\néé\n", [0, 2], []],
  ["\\B", "aéa\na\né\n", [2], []],
  ["\\s$", "日。\n日 \n日\u3000\n\u2028\n", [1], [2, 3]],
  ["\\S{2}", "日。\n日\u3000\na\u3000\n", [0], [1, 2]],
  ["k", "K\n\u212a\né\n", [0], [1]],
])("decides %s almost always in text known to be UTF-8", (expression, text, sure, unsure) => {
  const [[, window]] = WINDOWS;
  const dfa = automatonOf(expression, expression === "k", true);
  expect(dfa && decide(window, dfa, text)).toEqual({ sure, unsure });
});

test("knows all white space beyond ASCII", () => {
  const beyond = Array.from({ length: 0xff80 }, (_, i) => String.fromCharCode(0x80 + i));
  expect(characterSet("\\s", false).except).toBe(beyond.filter((character) => /\s/.test(character)).join(""));
});
