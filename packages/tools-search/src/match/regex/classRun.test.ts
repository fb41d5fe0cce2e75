import { expect, test } from "vitest";
import { randomNumbers } from "../../../test/tree.js";
import { rareClassRun } from "./classRun.js";
import { parseRegex } from "./parse.js";

const DIGITS = "0123456789";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const runOf = (expression: string) => rareClassRun(parseRegex(expression).source)?.run;

test.each<[string, readonly string[] | undefined]>([
  ["[A-Z]{2,}_[0-9]{3,}", [UPPER, UPPER, "_", DIGITS, DIGITS, DIGITS]],
  ["\\d{2}-\\d+x?", [DIGITS, DIGITS, "-", DIGITS]],
  ["[xyz]\\d?-\\d:q", ["-", DIGITS, ":", "q"]],
  ["(a|b)-\\d:(?:c)", ["-", DIGITS, ":"]],
  ["^\\d+\\.\\d+$", [DIGITS, ".", DIGITS]],
  ["\\w+ \\w+", undefined],
  ["\\d+-\\d+|x", undefined],
  ["[a-z]{5,}", Array.from({ length: 5 }, () => LOWER)],
  ["[a-z]{5,}\\s", undefined],
  ["[a-z]{12,};?", Array.from({ length: 12 }, () => LOWER)],
  ["\\w+\\s+\\w+", undefined],
  ["[^a]-\\d[é]:", ["-", DIGITS]],
  ["-\\d{0,4}:", undefined],
])("finds for %s the run %j that every match contains", (expression, run) => {
  expect(runOf(expression)).toEqual(run);
});

test("cuts a very long run, and starts anew after an open end", () => {
  expect(runOf("Q{40}_\\d+")).toEqual([..."Q".repeat(30), "_", DIGITS]);
  expect(runOf("\\d_{2,}Q")).toEqual(["_", "_", "Q"]);
});

test.each([
  ["[a-z]{14,}", true],
  ["[A-Z]{4,}_[0-9]{5,}", true],
  ["\\d{4}-\\d{2}-\\d{2}", true],
  ["Q{33}", false],
  ["Z\\d+_Q", false],
  ["^Z\\d_Q", false],
  ["Z_Q\\b", false],
  ["Z_Q[X\\r]", false],
])("knows for the run of %s whether it decides a match by itself: %s", (expression, exact) => {
  expect(rareClassRun(parseRegex(expression).source)?.exact).toBe(exact);
});

test("finds its run in every match of a random expression, and a match in every run that decides by itself", () => {
  const random = randomNumbers(17);
  const pick = (values: readonly string[]): string => values[random(values.length)] ?? "";
  const atoms = String.raw`a _ - \d \w [AB] [^a] . \s \x41 \. [a\-] (a|_) (?:-) \b ^ é [é_]`.split(" ");
  const marks = ["", "", "", "", "+", "{2}", "{1,3}", "{2,}", "*", "?", "+?"];
  const letters = [..."aAB_-19 .é"];
  let checked = 0;
  let exactChecked = 0;
  for (let round = 0; round < 6000; round++) {
    const expression = Array.from({ length: 1 + random(5) }, () => pick(atoms) + pick(marks)).join("");
    if (/(\\b|\^)[+{*?]/.test(expression)) continue;
    const { source } = parseRegex(expression);
    const found = rareClassRun(source);
    if (found === undefined) continue;
    const { run, exact } = found;
    for (let i = 0; i < 40; i++) {
      const line = Array.from({ length: random(14) }, () => pick(letters)).join("");
      const places = Array.from(line, (_, at) => at);
      const holds = places.some((at) => run.every((members, i) => members.includes(line[at + i] ?? "\n")));
      const matches = new RegExp(source, "u").test(line);
      if (matches) checked++;
      if (exact && holds) exactChecked++;
      if (matches || exact)
        expect({ expression, run, line, holds }).toEqual({ expression, run, line, holds: matches });
    }
  }
  expect(checked).toBeGreaterThan(300);
  expect(exactChecked).toBeGreaterThan(100);
});
