import { countOf } from "@agent/internal";
import { describe, expect, test } from "vitest";
import { functionTool } from "../jsonSchema/functionTool.js";
import { packOptions } from "./packOptions.js";

const PROPERTIES = { root: { type: "string" }, maxEntries: { type: "integer", minimum: 1 } };
const read = (options: unknown) => packOptions<{ root?: string }>("@agent/tools-x", options, PROPERTIES);

describe("a pack's options", () => {
  test("are returned as they are", () => {
    expect(read({ root: "." })).toEqual({ root: "." });
  });

  test("may be absent, as a whole or one by one", () => {
    expect(read(undefined)).toEqual({});
    expect(read({ root: undefined })).toEqual({ root: undefined });
  });

  test.each<[unknown, string]>([
    [null, "options must be an object, got null."],
    ["x", 'options must be an object, got string "x".'],
    [[], "options must be an object, got an empty array."],
    [{ rot: "." }, 'option "rot" is not known. Did you mean "root"?'],
    [{ zzz: 1 }, 'option "zzz" is not known. Known: "root", "maxEntries".'],
    [{ root: 4 }, 'option "root" must be a string, got number 4.'],
    [{ maxEntries: 0 }, 'option "maxEntries" must be at least 1, got 0.'],
    [
      { maxEntries: Number.POSITIVE_INFINITY },
      'option "maxEntries" must be a whole number, got number Infinity.',
    ],
    [{ root: null }, 'option "root" must be a string, got null.'],
  ])("cause an error that names the pack for %j", (options, problem) => {
    expect(() => read(options)).toThrowError(
      expect.objectContaining({ code: "invalid_argument", message: `@agent/tools-x: ${problem}` }),
    );
  });
});

test("requires in functionTool every property that is not optional and allows no others", () => {
  const properties = { path: { type: "string" }, deep: { type: "boolean" } };
  expect(functionTool("t", "Does.", properties, ["deep"])).toEqual({
    type: "function",
    function: {
      name: "t",
      description: "Does.",
      parameters: { type: "object", properties, required: ["path"], additionalProperties: false },
    },
  });
});

test("distinguishes one and many in countOf", () => {
  expect([countOf(0, "file"), countOf(1, "file"), countOf(2, "file")]).toEqual([
    "0 files",
    "1 file",
    "2 files",
  ]);
});
