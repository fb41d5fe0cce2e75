import { describe, expect, test } from "vitest";
import { addPack, removePack } from "./editPacks.js";

const DEFAULTS = ["@agent/preset-default"];

describe("addPack", () => {
  test.each([
    ["packs: []", 'packs: ["x"]'],
    ['packs: ["a"]', 'packs: ["a", "x"]'],
    ['packs: [["a", { b: [1] }]]', 'packs: [["a", { b: [1] }], "x"]'],
    ['packs: [["a", { b: 1 }], "c"],', 'packs: [["a", { b: 1 }], "c", "x"],'],
    ['packs: [\n  "a",\n  mine, // ], "q"\n],', 'packs: [\n  "a",\n  mine, "x", // ], "q"\n],'],
    ['// packs: ["no"]\npacks: [fs("]")]', '// packs: ["no"]\npacks: [fs("]"), "x"]'],
    ['packs: ["x"]', 'packs: ["x"]'],
    ["packs: [['x', {}]]", "packs: [['x', {}]]"],
    ["export default { model }", 'export default {\n  packs: ["@agent/preset-default", "x"], model }'],
    [
      "export default defineConfig({});",
      'export default defineConfig({\n  packs: ["@agent/preset-default", "x"],});',
    ],
    ["export default { packs: mine }", undefined],
    ["export default make()", undefined],
    ["packs: [", undefined],
  ])("of a program, %j", (before, after) => {
    expect(addPack(before, "x", "program", DEFAULTS)).toBe(after);
  });

  test.each([
    ["model: m\n", 'model: m\npacks:\n  - "@agent/preset-default"\n  - "x"\n'],
    ["", 'packs:\n  - "@agent/preset-default"\n  - "x"\n'],
    ["# mine\npacks: # these\n- a\nmodel: m\n", '# mine\npacks: # these\n- a\n- "x"\nmodel: m\n'],
    [
      'packs:\n  - a\n  - - "@s/b"\n    - root: .\nmodel: m\n',
      'packs:\n  - a\n  - - "@s/b"\n    - root: .\n  - "x"\nmodel: m\n',
    ],
    ["packs: [a, 'b'] # two\n", "packs: [a, 'b', \"x\"] # two\n"],
    ["packs:\n  - x\n", "packs:\n  - x\n"],
    ["packs: &list [a]\nother: *list\n", undefined],
    ["packs: a\n", undefined],
    ["- a\n", undefined],
    ["packs: [", undefined],
  ])("of YAML, %j", (before, after) => {
    expect(addPack(before, "x", "yaml", DEFAULTS)).toBe(after);
  });

  test("of data: the defaults stay where nothing was selected, and so does the layout", () => {
    expect(addPack('{\n\t"model": "m"\n}\n', "x", "json", DEFAULTS)).toBe(
      '{\n\t"model": "m",\n\t"packs": [\n\t\t"@agent/preset-default",\n\t\t"x"\n\t]\n}\n',
    );
    const inside = addPack('{"name":"p","agent":{"packs":[["x",{}]]}}', "x", "package", DEFAULTS);
    expect(JSON.parse(inside ?? "")).toEqual({ name: "p", agent: { packs: [["x", {}]] } });
  });
});

describe("removePack", () => {
  test.each([
    ['packs: ["a", "x"]', 'packs: ["a"]'],
    ['packs: ["x", "a"]', 'packs: ["a"]'],
    ['packs: ["x"]', "packs: []"],
    ['packs: [["x", { a: [1] }], "b"]', 'packs: ["b"]'],
    ["packs: [\n  'x',\n  'b',\n]", "packs: [\n  'b',\n]"],
    ['packs: ["a"]', 'packs: ["a"]'],
    ['const p = "x"; export default { packs: [p] }', undefined],
  ])("of a program, %j", (before, after) => {
    expect(removePack(before, "x", "program")).toBe(after);
  });

  test.each([
    ["packs:\n  - a # first\n  - x\n", "packs:\n  - a # first\n"],
    ["packs:\n  - ['x', { a: 1 }] # mine\n  - b\n", "packs:\n  - b\n"],
    ["packs:\n  - x\nmodel: m\n", "packs: []\nmodel: m\n"],
    ["packs: [x, b]\n", "packs: [b]\n"],
    ["packs:\n  - - x\n    - a: 1\n  - b\n", undefined],
    ["model: m\n", "model: m\n"],
  ])("of YAML, %j", (before, after) => {
    expect(removePack(before, "x", "yaml")).toBe(after);
  });

  test("of data, with its options", () => {
    expect(JSON.parse(removePack('{"packs":["a",["x",{"b":1}]]}', "x", "json") ?? "")).toEqual({
      packs: ["a"],
    });
  });
});
