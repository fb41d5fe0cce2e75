import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../tools/tool.js";
import { compileSchema } from "./compile.js";
import { SchemaError } from "./keywords.js";

const text = { type: "string" };
const number = { type: "number" };
const check = (schema: JsonSchema, value: unknown) => compileSchema(schema)(value);

describe("what does not fit is one sentence that names the value, what was expected and what came", () => {
  test.each<[JsonSchema, unknown, string]>([
    [text, 4, "the arguments must be a string, got number 4."],
    [{ type: ["string", "null"] }, [], "the arguments must be a string or null, got an empty array."],
    [{ type: "integer" }, 1.5, "the arguments must be a whole number, got number 1.5."],
    [number, Number.NaN, "the arguments must be a number, got number NaN."],
    [{ type: "array", items: text }, "src", 'the arguments must be an array of strings, got string "src".'],
    [{ enum: ["a", 1, null] }, "b", 'the arguments must be one of "a", 1, null, got string "b".'],
    [
      { enum: Array.from({ length: 32 }, (_, index) => index) },
      "b",
      /27, 28, 29 \(and 2 more\), got string "b"\.$/ as unknown as string,
    ],
    [{ const: { a: [1] } }, { a: [2] }, 'the arguments must be {"a":[1]}, got object.'],
    [{ minimum: 3 }, 2, "the arguments must be at least 3, got 2."],
    [{ maximum: 3 }, 4, "the arguments must be at most 3, got 4."],
    [{ exclusiveMinimum: 3 }, 3, "the arguments must be greater than 3, got 3."],
    [{ exclusiveMaximum: 3 }, 3, "the arguments must be less than 3, got 3."],
    [{ multipleOf: 3 }, 4, "the arguments must be a multiple of 3, got 4."],
    [{ minLength: 1 }, "", "the arguments must not be empty."],
    [{ minLength: 3 }, "😀😀", 'the arguments must have at least 3 characters, got string "😀😀".'],
    [{ maxLength: 1 }, "😀😀", "the arguments must have at most 1 characters, got 2."],
    [{ pattern: "^a+$" }, "b", 'the arguments must match ^a+$, got string "b".'],
    [{ items: number }, [1, "x"], '"[1]" must be a number, got string "x".'],
    [{ prefixItems: [text], items: number }, ["a", "b"], '"[1]" must be a number, got string "b".'],
    [{ items: [text], additionalItems: number }, ["a", "b"], '"[1]" must be a number, got string "b".'],
    [{ minItems: 1 }, [], "the arguments must not be empty."],
    [{ minItems: 2 }, [1], "the arguments must have at least 2 items, got 1."],
    [{ maxItems: 1 }, [1, 2], "the arguments must have at most 1 items, got 2."],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }], '"[2]" appears more than once.'],
    [{ contains: text }, [1], "the arguments must contain at least 1 fitting items, got 0."],
    [{ contains: text, maxContains: 1 }, [], "the arguments must contain at least 1 fitting items, got 0."],
    [
      { contains: text, maxContains: 1 },
      ["a", "b"],
      "the arguments must contain at most 1 fitting items, got 2.",
    ],
    [
      { properties: { a: { properties: { b: { items: text } } } } },
      { a: { b: [null] } },
      '"a.b[0]" must be a string, got null.',
    ],
    [{ properties: { a: text }, required: ["a", "b"] }, { b: 1 }, '"a" is required (string).'],
    [{ required: ["toString"] }, {}, '"toString" is required.'],
    [
      { properties: { path: text }, additionalProperties: false },
      { pth: 1 },
      '"pth" is not known. Did you mean "path"?',
    ],
    [
      { properties: { path: text }, additionalProperties: false },
      { other: 1 },
      '"other" is not known. Known: "path".',
    ],
    [{ additionalProperties: false }, { a: 1 }, '"a" is not known. Known: none.'],
    [{ additionalProperties: number }, { a: "x" }, '"a" must be a number, got string "x".'],
    [{ patternProperties: { "^x-": number } }, { "x-a": "x" }, '"x-a" must be a number, got string "x".'],
    [
      { propertyNames: { pattern: "^[a-z]+$" } },
      { A: 1 },
      'the arguments has the key "A", which must match ^[a-z]+$, got string "A".',
    ],
    [{ minProperties: 2 }, { a: 1, b: undefined }, "the arguments must have at least 2 properties, got 1."],
    [{ maxProperties: 0 }, { a: 1 }, "the arguments must have at most 0 properties, got 1."],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, '"b" is required together with "a" (number 1).'],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, '"b" is required together with "a" (number 1).'],
    [{ dependencies: { a: { required: ["c"] } } }, { a: 1 }, '"c" is required.'],
    [{ dependentSchemas: { a: { required: ["c"] } } }, { a: 1 }, '"c" is required.'],
    [{ allOf: [number, { minimum: 2 }] }, 1, "the arguments must be at least 2, got 1."],
    [{ anyOf: [text, number] }, true, "the arguments must be a string, or must be a number."],
    [{ anyOf: [text, { properties: { a: text } }] }, { a: 1 }, '"a" must be a string, got number 1.'],
    [
      { oneOf: [number, { minimum: 1 }] },
      2,
      "the arguments fits 2 alternatives where exactly one is allowed, got number 2.",
    ],
    [{ oneOf: [text] }, 2, "the arguments must be a string, got number 2."],
    [{ not: text }, "a", 'the arguments is not allowed, got string "a".'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    [{ if: number, then: { minimum: 2 }, else: text }, 1, "the arguments must be at least 2, got 1."],
    [{ if: number, else: text }, true, "the arguments must be a string, got boolean true."],
    [{ properties: { a: false } }, { a: 1 }, '"a" is not allowed, got number 1.'],
    [{ $ref: "#/$defs/a", $defs: { a: text } }, 1, "the arguments must be a string, got number 1."],
  ])("%j with %j", (schema, value, message) => {
    expect(check(schema, value)).toMatch(message);
    if (typeof message === "string") expect(check(schema, value)).toBe(message);
  });
});

describe("what fits", () => {
  test.each<[string, JsonSchema, unknown]>([
    [
      "an annotation is not a constraint",
      { format: "email", default: 1, examples: [2], $comment: "x", nullable: false },
      "x",
    ],
    [
      "undefined is absent",
      { properties: { a: text }, additionalProperties: false, dependentRequired: { c: ["d"] } },
      { a: undefined, b: undefined, c: undefined },
    ],
    ["0.3 is a multiple of 0.1", { multipleOf: 0.1 }, 0.3],
    ["a huge number is a multiple of a half", { multipleOf: 0.5 }, 1e308],
    ["a pattern only other dialects allow", { pattern: "^[\\w\\-]+\\@x$" }, "a-b@x"],
    ["boolean schemas", { properties: { a: true }, items: true }, { a: 1 }],
  ])("%s", (_name, schema, value) => {
    expect(check(schema, value)).toBeUndefined();
  });

  test("allows no floating-point tolerance for multipleOf with an integer", () => {
    expect(check({ multipleOf: 1 }, 1.0000000000000002)).toContain("must be a multiple of 1");
  });

  test("treats __proto__ and constructor like any other name", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"additionalProperties":false}',
    );
    expect(check(schema, JSON.parse('{"__proto__":"a","constructor":"b"}'))).toBeUndefined();
    expect(check(schema, JSON.parse('{"__proto__":4}'))).toBe('"__proto__" must be a string, got number 4.');
    expect(check({ additionalProperties: false }, JSON.parse('{"__proto__":4}'))).toContain(
      '"__proto__" is not known',
    );
  });
});

describe("a schema that refers to itself", () => {
  const tree = { type: "object", properties: { child: { $ref: "#" } }, additionalProperties: false };
  const nested = (depth: number, leaf: unknown): unknown => {
    let value = leaf;
    for (let level = 0; level < depth; level++) value = { child: value };
    return value;
  };

  test("checks a value of any reasonable depth", () => {
    expect(check(tree, nested(250, {}))).toBeUndefined();
    expect(check(tree, nested(3, 4))).toBe('"child.child.child" must be an object, got number 4.');
  });

  test("refuses a value that is nested without end, and can be used again", () => {
    const validate = compileSchema(tree);
    expect(validate(nested(5000, {}))).toMatch(/is nested too deeply for "#"\.$/);
    expect(validate({})).toBeUndefined();
  });

  test.each<[string, JsonSchema]>([
    ["directly", { $ref: "#" }],
    ["through another", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["twice at each step, which would take forever", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }],
  ])("is reported if it never looks deeper: %s", (_name, schema) => {
    expect(check(schema, { a: 1 })).toContain("refers to itself without end");
    expect(check(schema, "a")).toContain("refers to itself without end");
  });
});

describe("refuses an invalid schema, with its place in the message", () => {
  const refused = (schema: unknown, message: string | RegExp) => {
    const compile = () => compileSchema(schema as JsonSchema, "parameters");
    expect(compile).toThrow(SchemaError);
    expect(compile).toThrow(message);
  };

  test.each<[unknown, string]>([
    ["x", 'parameters must be a schema object, got string "x"'],
    [null, "parameters must be a schema object, got null"],
    [[], "parameters must be a schema object, got an empty array"],
    [{ type: "dict" }, 'parameters.type is "dict", which is not a JSON Schema type. Did you mean "object"?'],
    [
      { type: "String" },
      'parameters.type is "String", which is not a JSON Schema type. Did you mean "string"?',
    ],
    [{ type: "any" }, 'parameters.type is "any", which is not a JSON Schema type'],
    [{ type: "toString" }, 'parameters.type is "toString", which is not'],
    [{ type: [] }, "parameters.type must name at least one type"],
    [{ type: 4 }, "parameters.type must be an array, got number 4"],
    [{ type: [4] }, "parameters.type[0] must be a string, got number 4"],
    [{ enum: "a" }, 'parameters.enum must be an array, got string "a"'],
    [{ minimum: "1" }, 'parameters.minimum must be a number, got string "1"'],
    [{ exclusiveMinimum: true }, "parameters.exclusiveMinimum must be a number, got boolean true"],
    [{ multipleOf: 0 }, "parameters.multipleOf must be greater than 0"],
    [{ minLength: -1 }, "parameters.minLength must be a whole number of at least 0, got number -1"],
    [{ maxItems: 1.5 }, "parameters.maxItems must be a whole number of at least 0, got number 1.5"],
    [{ pattern: "(" }, "parameters.pattern is not a valid regular expression: ("],
    [{ pattern: 4 }, "parameters.pattern must be a string, got number 4"],
    [{ patternProperties: { "(": {} } }, "parameters.patternProperties is not a valid regular expression: ("],
    [{ properties: [] }, "parameters.properties must be an object, got an empty array"],
    [
      { properties: { a: { type: "int" } } },
      'parameters.properties.a.type is "int", which is not a JSON Schema type. Did you mean "integer"?',
    ],
    [{ properties: { a: null } }, "parameters.properties.a must be a schema object, got null"],
    [{ required: true }, "parameters.required must be an array, got boolean true"],
    [{ required: [4] }, "parameters.required[0] must be a string, got number 4"],
    [{ uniqueItems: "yes" }, 'parameters.uniqueItems must be true or false, got string "yes"'],
    [{ prefixItems: {} }, "parameters.prefixItems must be an array, got object"],
    [{ items: [{}, 4] }, "parameters.items[1] must be a schema object, got number 4"],
    [{ anyOf: [] }, "parameters.anyOf must not be empty"],
    [{ allOf: {} }, "parameters.allOf must be an array, got object"],
    [{ not: 4 }, "parameters.not must be a schema object, got number 4"],
    [{ dependentRequired: { a: "b" } }, 'parameters.dependentRequired.a must be an array, got string "b"'],
    [{ $defs: { a: 4 } }, "parameters.$defs.a must be a schema object, got number 4"],
    [{ definitions: [] }, "parameters.definitions must be an object, got an empty array"],
    [{ $ref: "#/$defs/none" }, 'parameters.$ref points to "#/$defs/none", which does not exist'],
    [{ $ref: "#/$defs/__proto__", $defs: {} }, "which does not exist"],
    [{ $ref: "#name" }, 'parameters.$ref "#name" is not a JSON pointer'],
    [
      { $ref: "http://example.org/a" },
      'parameters.$ref must point inside the schema ("#/$defs/…"), got string "http://example.org/a"',
    ],
    [{ $ref: 4 }, "parameters.$ref must point inside the schema"],
    ...["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"].map(
      (keyword): [unknown, string] => [
        { properties: { a: { [keyword]: false } } },
        `parameters.properties.a uses "${keyword}", which is not supported`,
      ],
    ),
  ])("%j", (schema, message) => {
    refused(schema, message);
  });

  test("one that is nested without end", () => {
    const cyclic: Record<string, unknown> = { type: "object" };
    cyclic.properties = { self: cyclic };
    refused(cyclic, "the schema is nested more than 256 levels deep");
    let deep: JsonSchema = {};
    for (let level = 0; level < 100_000; level++) deep = { items: deep };
    refused(deep, "the schema is nested more than 256 levels deep");
  });
});
