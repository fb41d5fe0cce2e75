import { expect, test } from "vitest";
import { nearestPlaces } from "./nearestPlaces.js";

const nearest = (text: string, wanted: string) => nearestPlaces(text, wanted, (piece) => piece) ?? "nothing";

const PROGRAM = [
  "import { a } from './a.js';",
  "",
  "export function first(items) {",
  "  for (const item of items) {",
  "    console.log(item.name);",
  "  }",
  "}",
  "",
  "export function second(items) {",
  "  for (const item of items) {",
  "    console.log(item.title);",
  "  }",
  "  return items.length;",
  "}",
  "",
].join("\n");

test("finds a block as a whole, and shows what differs in it", () => {
  const wanted =
    "  for (const item of items) {\n    console.log(item.label);\n  }\n  return items.length;\n}\n";
  expect(nearest(PROGRAM, wanted)).toContain(
    [
      'lines 10-14 ("-" is old_text, "+" the file):',
      "   for (const item of items) {",
      "-    console.log(item.label);",
      "+    console.log(item.title);",
      "   }",
      "   return items.length;",
      " }",
    ].join("\n"),
  );
});

test("shows a block whole, although old_text lacks a line of it or has one more", () => {
  const lacking =
    "export function second(items) {\n  for (const item of items) {\n  }\n  return items.length;\n}\n";
  expect(nearest(PROGRAM, lacking)).toContain(
    [
      'lines 9-14 ("-" is old_text, "+" the file):',
      " export function second(items) {",
      "   for (const item of items) {",
      "+    console.log(item.title);",
      "   }",
    ].join("\n"),
  );
  const more =
    "export function first(items) {\n  for (const item of items) {\n    console.log(item.name);\n    more();\n  }\n}\n";
  expect(nearest(PROGRAM, more)).toMatch(/^The nearest lines are:\nlines 3-7 /);
});

test("finds a line, with the place where it differs, and the next best ones after it", () => {
  const text = nearest(PROGRAM, "console.log(item.names);");
  expect(text).toContain(
    'line 5: console.log(item.name);\n  old_text has …"og(item.names);", the file has …"og(item.name);"',
  );
  expect(text.indexOf("line 11:")).toBeGreaterThan(text.indexOf("line 5:"));
});

test("shows the place itself in a very long line, not the start of the line", () => {
  const statements = Array.from({ length: 20_000 }, (_, index) => `var v${index}=f(${index * 7});`);
  const text = `/* minified */\n${statements.join("")}\n`;
  const found = nearest(text, "var v12345=f(1);var v12346=f(86422);");
  expect(found).toMatch(/^The nearest lines are:\nline 2: .*v12345=f\(86415\)/);
  expect(found.length).toBeLessThan(2000);
});

test("finds the place although every word has a mistake", () => {
  expect(nearest(PROGRAM, "exprot functoin secnod(itmes) {")).toContain(
    "line 9: export function second(items) {",
  );
});

test("finds no nearest place for a text without similar lines or a blank text", () => {
  expect(nearest(PROGRAM, "SELECT * FROM users WHERE id = 5")).toBe("nothing");
  expect(nearest(PROGRAM, " \n\t")).toBe("nothing");
  expect(nearest("", "abc")).toBe("nothing");
});

test.each([
  ["  total = price * count;  ", "line 2: total = price * count;"],
  [
    "total = price",
    'line 2: total = price * count;\n  old_text has …"otal = price", the file has …"otal = price * count;"',
  ],
  [
    "total = price * count; // all",
    'line 2: total = price * count;\n  old_text has …"ice * count; // all", the file has …"ice * count;"',
  ],
  [
    "Total = price * count;",
    'line 2: total = price * count;\n  old_text has "Total = price * count;", the file has "total = price * count;"',
  ],
])("names what differs between %j and the file", (wanted, expected) => {
  expect(nearest("const a = 1;\n  total = price * count;\nconst b = 2;\n", wanted)).toBe(
    `The nearest lines are:\n${expected}`,
  );
});

test("shortens a line of more than 160 characters, and lists at most 40 lines", () => {
  const long = (length: number) => `const text = "${"a".repeat(length - 14)}`;
  const [line160, line161] = [long(160), long(161)];
  expect(nearest(`${line160}\n`, `${line160};`)).toContain(`line 1: ${line160}\n`);
  expect(nearest(`${line161}\n`, `${line161};`)).toContain(`line 1: ${line161.slice(0, 160)}…\n`);
  const block = (count: number) =>
    Array.from({ length: count }, (_, at) => `const name${at} = ${at};`).join("\n");
  expect(nearest(`${block(39)}\n`, block(39).replace("name20 =", "other ="))).not.toContain("more lines]");
  expect(nearest(`${block(41)}\n`, block(41).replace("name20 =", "other ="))).toMatch(/\n\[2 more lines\]/);
});

test("lists at most three places that do not overlap", () => {
  const text = [1, 2, 3, 4, 5].map((at) => `const value${at} = compute(input, ${at});\n`).join("");
  const found = nearest(text, "const value = compute(input, x);");
  expect(found.match(/^line \d/gm)).toHaveLength(3);
  expect(new Set(found.match(/^line \d/gm)).size).toBe(3);
});

test("finds the nearest place in ten megabytes of similar lines", () => {
  const text = "const value = compute(value, other, third);\n".repeat(240_000);
  expect(
    nearest(`${text}const value = compute(value, other, fourth);\n`, "const value = compute(value, fourth)"),
  ).toContain("line 240001: const value = compute(value, other, fourth);");
  // An array of tens of millions of lines would exhaust the memory.
  expect(nearest("\n".repeat(30_000_000), "const a = 1;")).toBe("nothing");
});
