import { describe, expect, test } from "vitest";
import { removePackOption, setPackOption } from "./editPackOptions.js";

const PLACE = { pack: "mcp", group: "servers", key: "docs" };
const SERVER = { command: "npx", args: ["-y", "x"] };
const DEFAULTS = ["preset"];

describe("setPackOption of a program", () => {
  test.each([
    ["packs: []", 'packs: [["mcp", { servers: { docs: { command: "npx", args: ["-y", "x"] } } }]]'],
    ['packs: ["mcp"]', 'packs: [["mcp", { servers: { docs: { command: "npx", args: ["-y", "x"] } } }]]'],
    [
      'packs: [["mcp", { a: 1 }]]',
      'packs: [["mcp", { a: 1, servers: { docs: { command: "npx", args: ["-y", "x"] } } }]]',
    ],
    [
      'packs: [["mcp", { servers: { "docs": { url: "https://}" } } }]]',
      'packs: [["mcp", { servers: { docs: { command: "npx", args: ["-y", "x"] } } }]]',
    ],
    [
      'packs: [\n  [\n    "mcp",\n    {\n      servers: {\n        a: { url: "https://a" },\n      },\n    },\n  ],\n]',
      'packs: [\n  [\n    "mcp",\n    {\n      servers: {\n        a: { url: "https://a" },\n        docs: { command: "npx", args: ["-y", "x"] },\n      },\n    },\n  ],\n]',
    ],
    ['packs: [["mcp", options]]', undefined],
    ['packs: [["mcp", { servers }]]', undefined],
    ['packs: [["mcp", { ...shared }]]', undefined],
  ])("%s", (before, after) => {
    expect(setPackOption(before, PLACE, SERVER, "code", DEFAULTS)).toBe(after);
  });
});

test("keeps everything else in setPackOption of data", () => {
  const before = JSON.stringify({ model: "m", packs: ["a", ["mcp", { lockFile: "l" }]] });
  expect(JSON.parse(setPackOption(before, PLACE, SERVER, "json", DEFAULTS) ?? "")).toEqual({
    model: "m",
    packs: ["a", ["mcp", { lockFile: "l", servers: { docs: SERVER } }]],
  });
});

test("writes one line in setPackOption of YAML that it can change again", () => {
  const first = setPackOption("# mine\nmodel: m\n", PLACE, SERVER, "yaml", DEFAULTS) ?? "";
  expect(first).toBe(
    '# mine\nmodel: m\npacks:\n  - "preset"\n  - ["mcp",{"servers":{"docs":{"command":"npx","args":["-y","x"]}}}]\n',
  );
  const second = setPackOption(first, { ...PLACE, key: "b" }, { url: "u" }, "yaml", DEFAULTS) ?? "";
  expect(second).toContain('"b":{"url":"u"}');
  expect(removePackOption(second, { ...PLACE, key: "b" }, "yaml")).toBe(first);
});

describe("removePackOption", () => {
  test.each([
    ['packs: [["mcp", { servers: { docs: { a: [1] }, b: 2 } }]]', 'packs: [["mcp", { servers: { b: 2 } }]]'],
    ['packs: [["mcp", { servers: { docs: { a: [1] } } }]]', 'packs: [["mcp", { servers: {} }]]'],
    [
      '["mcp", {}];\npacks: [["mcp", {\n  servers: {\n    b: 2,\n    docs: { a: 1 },\n  },\n}]]',
      '["mcp", {}];\npacks: [["mcp", {\n  servers: {\n    b: 2,\n  },\n}]]',
    ],
    ['packs: [["mcp", { servers: { b: 2 } }]]', undefined],
    ["packs: [mcp]", undefined],
  ])("of a program, %s", (before, after) => {
    expect(removePackOption(before, PLACE, "code")).toBe(after);
  });

  test("of data", () => {
    const before = JSON.stringify({ packs: [["mcp", { servers: { docs: 1, b: 2 } }]] });
    expect(JSON.parse(removePackOption(before, PLACE, "json") ?? "")).toEqual({
      packs: [["mcp", { servers: { b: 2 } }]],
    });
  });
});
