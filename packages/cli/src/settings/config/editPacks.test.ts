import { describe, expect, test } from "vitest";
import { addPack, removePack } from "./editPacks.js";
import { locate, valuePattern } from "./locate.js";

const DEFAULTS = ["@agent/preset-default"];

describe("addPack", () => {
  test.each([
    ["packs: []", 'packs: ["x"]'],
    ['packs: ["a"]', 'packs: ["a", "x"]'],
    ['packs: [["a", { b: [1, { c: "]" }] }]]', 'packs: [["a", { b: [1, { c: "]" }] }], "x"]'],
    ['packs: [\n  "a", // packs: [\n]', 'packs: [\n  "a",\n  "x", // packs: [\n]'],
    ['packs: [["a", { b: 1 }], "c"],', 'packs: [["a", { b: 1 }], "c", "x"],'],
    ['packs: ["x"]', 'packs: ["x"]'],
    ["export default {}", 'export default { packs: ["@agent/preset-default", "x"] }'],
    [
      'export default defineConfig({\n  model: "m",\n});',
      'export default defineConfig({\n  model: "m",\n  packs: ["@agent/preset-default", "x"],\n});',
    ],
    ["export default config", undefined],
  ])("of a program, %s", (before, after) => {
    expect(addPack(before, "x", "code", DEFAULTS)).toBe(after);
  });

  test("of data: keeps the defaults if nothing was selected", () => {
    expect(JSON.parse(addPack('{"model":"m"}', "x", "json", DEFAULTS) ?? "")).toEqual({
      model: "m",
      packs: ["@agent/preset-default", "x"],
    });
  });
});

describe("a config that is written to be slow is read immediately", { timeout: 20_000 }, () => {
  const N = 600_000;
  const many = (text: string): string => text.repeat(N / text.length);

  test.each<[string, string]>([
    ["a string that escapes its end", `packs: []; "${many('\\"')}`],
    ["a template that escapes its end", `packs: []; \`${many("\\`")}`],
    ["comments without an end", `packs: []; ${many("/* ")}`],
    ["blanks before a part", `packs: [${" ".repeat(N)}"a", "b"]`],
  ])("of a program: %s", (_, text) => {
    expect(addPack(text, "x", "code", DEFAULTS)).toHaveLength(text.length + (text.includes('"a"') ? 5 : 3));
  });

  test.each<[string, string]>([
    ["line breaks of another kind", many("\r")],
    ["separators of lines", many("\u2028")],
    ["lists behind a comment without an end", many("packs:#\r")],
    ["a list that is nothing but line breaks", `packs:\n${many("\r")}`],
  ])("of data: %s", (_, text) => {
    expect(addPack(`a: 1\n${text}`, "x", "yaml", DEFAULTS)?.length ?? N).toBeGreaterThan(0);
    expect(removePack(text, "x", "yaml")).toBe(text);
  });

  test("while searching for the line of a wrong value", () => {
    const text = `${many("\n")}enable: x`;
    expect(locate("config", text, valuePattern("y"))).toBe("config");
  });
});

describe("removePack", () => {
  test.each([
    ['packs: ["a", "x"]', 'packs: ["a"]'],
    ['packs: ["x", "a"]', 'packs: ["a"]'],
    ['packs: ["x"]', "packs: []"],
    ['packs: [["x", { a: 1 }]]', "packs: []"],
    ['packs: [\n  "a",\n  ["x", { a: 1 }],\n]', 'packs: [\n  "a",\n]'],
    ['packs: ["a"]', 'packs: ["a"]'],
    ['const p = "x"; export default { packs: [p] }', undefined],
  ])("of a program, %s", (before, after) => {
    expect(removePack(before, "x", "code")).toBe(after);
  });

  test("of data, with its options", () => {
    expect(JSON.parse(removePack('{"packs":["a",["x",{"b":1}]]}', "x", "json") ?? "")).toEqual({
      packs: ["a"],
    });
  });
});

describe("of YAML", () => {
  test.each([
    ["model: m\n", 'model: m\npacks:\n  - "@agent/preset-default"\n  - "x"\n'],
    ["packs:\n  - a # first\n\nmodel: m\n", 'packs:\n  - a # first\n  - "x"\n\nmodel: m\n'],
    ["packs:\n- x\n", "packs:\n- x\n"],
    ["packs: [a]\n", undefined],
  ])("adds a pack to %j", (before, after) => {
    expect(addPack(before, "x", "yaml", DEFAULTS)).toBe(after);
  });

  test("removes a pack with its line", () => {
    expect(removePack('packs:\n  - a\n  - ["x",{"b":1}]\n  - c\n', "x", "yaml")).toBe(
      "packs:\n  - a\n  - c\n",
    );
  });
});
