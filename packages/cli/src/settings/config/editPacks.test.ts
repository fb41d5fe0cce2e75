import { describe, expect, test } from "vitest";
import { addPack, removePack } from "./editPacks.js";

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

  test("of data: the defaults stay where nothing was selected", () => {
    expect(JSON.parse(addPack('{"model":"m"}', "x", "json", DEFAULTS) ?? "")).toEqual({
      model: "m",
      packs: ["@agent/preset-default", "x"],
    });
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
  ])("a pack is added to %j", (before, after) => {
    expect(addPack(before, "x", "yaml", DEFAULTS)).toBe(after);
  });

  test("a pack is removed with its line", () => {
    expect(removePack('packs:\n  - a\n  - ["x",{"b":1}]\n  - c\n', "x", "yaml")).toBe(
      "packs:\n  - a\n  - c\n",
    );
  });
});
