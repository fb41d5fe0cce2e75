import { describe, expect, test } from "vitest";
import { cleanPaths, copyArguments, describeProblems, repairArguments } from "./arguments.js";

const schema = (properties: Record<string, unknown>, required: string[] = [], more: object = {}) => ({
  type: "object",
  properties,
  required,
  ...more,
});
const CLOSED = { additionalProperties: false };
const text = { type: "string" };

/** The repaired arguments; `undefined` if there is nothing to repair. */
const repaired = (parameters: Record<string, unknown>, args: Record<string, unknown>) =>
  repairArguments(parameters, args)?.args;

describe("copying arguments", () => {
  test("copies every kind of JSON value", () => {
    const args = { a: null, b: undefined, c: "x", d: 1, e: false, f: [1, { g: [] }], h: {} };
    const copy = copyArguments(args);
    expect(copy).toEqual(args);
    expect(copy.f).not.toBe(args.f);
    expect((copy.f as unknown[])[1]).not.toBe(args.f[1]);
    expect(copyArguments(undefined)).toEqual({});
  });

  test("takes 256 levels and no more", () => {
    const nested = (levels: number): Record<string, unknown> =>
      levels === 0 ? {} : { a: nested(levels - 1) };
    const lists = (levels: number): unknown => (levels === 0 ? [] : [lists(levels - 1)]);
    expect(copyArguments(nested(256))).toEqual(nested(256));
    expect(() => copyArguments(nested(257))).toThrow("nested more than 256 levels");
    expect(() => copyArguments({ a: lists(256) })).toThrow("nested more than 256 levels");
  });

  test.each([[() => 1], [Symbol("s")], [1n]])("refuses %s inside a list", (value) => {
    expect(() => copyArguments({ a: [value] })).toThrow("the arguments must be JSON values");
  });
});

describe("reading arguments in their only way", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ["a number in quotes", schema({ n: { type: "number" } }), { n: " -1.5 " }, { n: -1.5 }],
    ["an empty number as absent", schema({ n: { type: "number" } }), { n: "" }, {}],
    ["an object in quotes", schema({ o: { type: "object" } }), { o: '{"a":1}' }, { o: { a: 1 } }],
    ["FALSE in quotes", schema({ b: { type: "boolean" } }), { b: "FALSE" }, { b: false }],
    ["a flag as text", schema({ s: text }), { s: true }, { s: "true" }],
    ["the only item of a list", schema({ s: text }), { s: ["x"] }, { s: "x" }],
    [
      "an item in place of a list of objects",
      schema({ l: { type: "array", items: { type: "object" } } }),
      { l: { a: 1 } },
      { l: [{ a: 1 }] },
    ],
    [
      "a value inside an object",
      schema({ o: schema({ n: { type: "integer" } }) }),
      { o: { n: "2" } },
      { o: { n: 2 } },
    ],
    [
      "an optional null inside a list",
      schema({ l: { type: "array", items: schema({ n: text }) } }),
      { l: [{ n: null }] },
      { l: [{}] },
    ],
    [
      "a name in another style",
      schema({ old_text: text }, ["old_text"]),
      { "Old-Text": "x" },
      { old_text: "x" },
    ],
    [
      "a synonym of a closed schema",
      schema({ directory: text }, [], CLOSED),
      { folder: "x" },
      { directory: "x" },
    ],
    ["arguments in a wrapper", schema({ a: text }), { params: { a: "x" } }, { a: "x" }],
  ])("repairs %s", (_, parameters, args, expected) => {
    expect(repaired(parameters, args)).toEqual(expected);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a number with zeros before it", schema({ n: { type: "number" } }), { n: "007" }],
    ["a number with text after it", schema({ n: { type: "number" } }), { n: "5px" }],
    ["a fraction as a whole number", schema({ n: { type: "integer" } }), { n: 1.5 }],
    ["a list in quotes as an object", schema({ o: { type: "object" } }), { o: "[1]" }],
    ["a text in quotes as an object", schema({ o: { type: "object" } }), { o: "a: 1" }],
    ["broken JSON as a list", schema({ l: { type: "array" } }), { l: "[1" }],
    ["null as a list", schema({ l: { type: "array" } }, ["l"]), { l: null }],
    ["a text of several lines as one item", schema({ l: { type: "array", items: text } }), { l: "a\nb" }],
    ["an item of another type", schema({ l: { type: "array", items: text } }), { l: 7 }],
    ["a list of two as its item", schema({ s: text }), { s: ["x", "y"] }],
    ["a list with a number as its item", schema({ s: text }), { s: [1] }],
    ["an object as text", schema({ s: text }), { s: { a: 1 } }],
    ["a null that the schema allows", schema({ s: { type: ["string", "null"] } }), { s: null }],
    ["a null that is required", schema({ s: text }, ["s"]), { s: null }],
    ["a null without a type", schema({ s: {} }), { s: null }],
    ["an empty text", schema({ s: text }), { s: "" }],
    ["an empty number that is required", schema({ n: { type: "number" } }, ["n"]), { n: "" }],
    ["a value of one of several types", schema({ s: { type: ["number", "boolean"] } }), { s: "1" }],
    ["a synonym of an optional argument of an open schema", schema({ directory: text }), { folder: "x" }],
    ["a synonym of an argument that is there", schema({ path: text }, ["path"]), { path: "a", file: "b" }],
    [
      "a synonym of two arguments",
      schema({ path: text, directory: text }, ["path", "directory"]),
      { folder: "x", dir: "y" },
    ],
    ["a name that is not a synonym", schema({ path: text }, ["path"]), { place: "x" }],
    ["a wrapper next to another argument", schema({ a: text }), { input: { a: "x" }, b: 1 }],
    ["a wrapper that is an argument", schema({ input: { type: "object" } }), { input: { a: "x" } }],
    ["an object that is not a wrapper", schema({ a: text }), { data: { a: "x" } }],
    ["a wrapper around a text", schema({ a: text }), { input: "x" }],
  ])("leaves %s alone", (_, parameters, args) => {
    expect(repaired(parameters, args)).toBeUndefined();
  });

  test.each<[string, string[]]>([
    ["path", ["filepath", "file", "filename", "target_file", "absolutePath"]],
    ["paths", ["files", "file_paths"]],
    ["directory", ["dir", "folder", "path"]],
    ["old_text", ["old_string", "old_str", "search", "find"]],
    ["new_text", ["new_string", "new_str", "replace", "replacement"]],
    ["content", ["contents", "file_text", "text", "fileContent"]],
    ["command", ["cmd", "script", "bash"]],
    ["pattern", ["regex", "query", "search_term"]],
    ["cwd", ["workdir", "working_directory"]],
    ["url", ["uri", "link"]],
  ])("reads as %s the names that models use for it", (name, others) => {
    for (const other of others)
      expect(repaired(schema({ [name]: {} }, [name]), { [other]: "x" }), other).toEqual({ [name]: "x" });
  });

  test.each(["input", "arguments", "args", "parameters", "params"])("unwraps %s", (wrapper) => {
    expect(repaired(schema({ a: text }), { [wrapper]: '{"a":"x"}' })).toEqual({ a: "x" });
  });

  test("does not read one text as the flag of another name", () => {
    const search = schema({ query: text, regex: { type: "boolean" } }, ["query"], CLOSED);
    expect(repaired(search, { pattern: "x" })).toEqual({ query: "x" });
  });
});

describe("cleaning paths", () => {
  test.each<[unknown, unknown]>([
    ["'a b'", "a b"],
    ["`a`", "a"],
    ["a\r\n", "a"],
    ["file://localhost/a%20b", "/a b"],
    [
      ['"a"', "b"],
      ["a", "b"],
    ],
  ])("reads %j as %j", (given, clean) => {
    expect(cleanPaths({ path: given, other: given }, ["path"])?.args).toEqual({ path: clean, other: given });
  });

  test.each([
    ["a"],
    ['"a'],
    ["\"a'"],
    ['"a"b"'],
    ["file://server/share"],
    ["file:///%E0%A4%A"],
    [7],
    [["a", 7]],
  ])("leaves %j alone", (given) => {
    expect(cleanPaths({ path: given }, ["path"])).toBeUndefined();
  });
});

describe("the problems of a call", () => {
  test("are named once each, with the expected shape", () => {
    const parameters = schema(
      {
        path: text,
        mode: { enum: ["a", "b"] },
        sizes: { type: "array", items: { type: "number" } },
        edits: { type: "array", items: schema({ old: text, all: { type: "boolean" } }, ["old"]) },
        any: {},
        both: { type: ["string", "null"] },
        free: { type: "object" },
      },
      ["path", "edits"],
      CLOSED,
    );
    const message = describeProblems(parameters, { mode: "c", extra: 1 }, '"path" is required (string).');
    expect(message).toMatch(/^"path" is required \(string\)\. "edits" is required\. "mode" must be /);
    expect(message).toContain('There is no argument "extra".');
    expect(message.match(/"path"/g)).toHaveLength(1);
    expect(message).toMatch(
      /Expected: \{ path: string, mode\?: "a" \| "b", sizes\?: \[number\], edits: \[\{ old: string, all\?: boolean \}\], any\?: any, both\?: string \| null, free\?: object \}$/,
    );
  });

  test("leave out unknown arguments of an open schema, and the shape of one without arguments", () => {
    expect(describeProblems(schema({}), { extra: 1 }, "It is wrong.")).toBe("It is wrong.");
    expect(describeProblems({ type: "object" }, {}, "It is wrong.")).toBe("It is wrong.");
  });

  test("are at most eight besides the first, and twenty names of the shape", () => {
    const properties = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`a${index}`, text]));
    const message = describeProblems(schema(properties, Object.keys(properties)), {}, "It is wrong.");
    expect(message.match(/is required/g)).toHaveLength(8);
    expect(message).toContain("a19: string, … }");
  });
});
