import { describe, expect, test } from "vitest";
import { addPack, removePack } from "./editPacks.js";

const DEFAULTS = ["@agent/preset-default"];

describe("addPack", () => {
  test.each([
    ["packs: []", 'packs: ["x"]'],
    ['packs: ["a"]', 'packs: ["a", "x"]'],
    ['packs: [["a", { b: [1] }]]', undefined],
    ['packs: [["a", { b: 1 }], "c"],', 'packs: [["a", { b: 1 }], "c", "x"],'],
    ['packs: ["x"]', 'packs: ["x"]'],
    ["export default {}", undefined],
  ])("of a program, %s", (before, after) => {
    expect(addPack(before, "x", false, DEFAULTS)).toBe(after);
  });

  test("of data: the defaults stay where nothing was selected", () => {
    expect(JSON.parse(addPack('{"model":"m"}', "x", true, DEFAULTS) ?? "")).toEqual({
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
    ['packs: [["x", { a: 1 }]]', undefined],
    ['packs: ["a"]', 'packs: ["a"]'],
    ['const p = "x"; export default { packs: [p] }', undefined],
  ])("of a program, %s", (before, after) => {
    expect(removePack(before, "x", false)).toBe(after);
  });

  test("of data, with its options", () => {
    expect(JSON.parse(removePack('{"packs":["a",["x",{"b":1}]]}', "x", true) ?? "")).toEqual({
      packs: ["a"],
    });
  });
});
