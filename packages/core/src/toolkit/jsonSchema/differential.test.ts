import { functionSchemas, type Random, seededRandom, withJsonTypes } from "@agent/test-support";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../tools/tool.js";
import { compileSchema } from "./compile.js";
import { SchemaError } from "./keywords.js";

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true, logger: false });

const KEYS = ["a", "b", "ab", "isPrototypeOf", "é"];
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const SCALARS = [null, true, false, 0, 1, 2, 3, -1, 1.5, 2 ** 53, "", "a", "b", "ab", "é😀", "1"];

function randomValue(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(5);
  if (kind <= 2) return random.pick(SCALARS);
  const children = Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
  return kind === 3 ? children : Object.fromEntries(children.map((child) => [random.pick(KEYS), child]));
}

type Keyword = (random: Random, sub: () => unknown) => JsonSchema;
const some = <T>(random: Random, make: () => T, most = 3): T[] =>
  Array.from({ length: 1 + random.below(most) }, make);
const unique = (items: string[]): string[] => [...new Set(items)];
const mapped = (random: Random, keys: readonly string[], make: () => unknown) =>
  Object.fromEntries(some(random, () => [random.pick(keys), make()]));

/** One maker for each keyword, or for several that only mean something together. */
const KEYWORDS: readonly Keyword[] = [
  (random) => ({ type: random.pick(TYPES) }),
  (random) => ({ type: unique(some(random, () => random.pick(TYPES))) }),
  (random) => ({ enum: [...new Set(some(random, () => random.pick(SCALARS), 6))] }),
  (random) => ({ const: randomValue(random, 2) }),
  (random) => ({
    [random.pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])]: random.below(4) - 1,
  }),
  (random) => ({ multipleOf: random.pick([1, 2, 3, 0.5]) }),
  (random) => ({ [random.pick(["minLength", "maxLength"])]: random.below(4) }),
  (random) => ({ pattern: random.pick(["^a", "b$", "^\\d+$", "😀", "\\p{L}"]) }),
  (random, sub) => ({ properties: mapped(random, KEYS, sub) }),
  (random, sub) => ({
    properties: mapped(random, KEYS, sub),
    additionalProperties: random.chance(0.5) ? false : sub(),
  }),
  (random, sub) => ({
    patternProperties: mapped(random, ["^a", "b$", "."], sub),
    additionalProperties: sub(),
  }),
  (random) => ({ required: unique(some(random, () => random.pick(KEYS), 2)) }),
  (random) => ({ propertyNames: { maxLength: random.below(3) } }),
  (random) => ({ [random.pick(["minProperties", "maxProperties"])]: random.below(3) }),
  (random) => ({ dependentRequired: mapped(random, KEYS, () => [random.pick(KEYS)]) }),
  (random, sub) => ({ dependentSchemas: mapped(random, KEYS, sub) }),
  (_random, sub) => ({ items: sub() }),
  (random, sub) => ({ prefixItems: some(random, sub), ...(random.chance(0.5) && { items: sub() }) }),
  (random) => ({ [random.pick(["minItems", "maxItems"])]: random.below(3) }),
  () => ({ uniqueItems: true }),
  (random, sub) => ({
    contains: sub(),
    ...(random.chance(0.5) && { minContains: random.below(3) }),
    ...(random.chance(0.5) && { maxContains: 2 + random.below(2) }),
  }),
  (random, sub) => ({ [random.pick(["allOf", "anyOf", "oneOf"])]: some(random, sub) }),
  (_random, sub) => ({ not: sub() }),
  (random, sub) => ({
    if: sub(),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ...(random.chance(0.7) && { then: sub() }),
    ...(random.chance(0.7) && { else: sub() }),
  }),
  (random) => ({ $ref: random.pick(["#/$defs/tree", "#/$defs/a~1b", "#/$defs/%C3%A9"]) }),
  () => ({ format: "date-time", description: "x", default: 4, title: "t", examples: [1] }),
];

function randomSchema(random: Random, depth: number): unknown {
  if (depth === 0 || random.chance(0.1)) return random.pick([true, {}, { type: random.pick(TYPES) }, false]);
  const sub = () => randomSchema(random, depth - 1);
  const schema = Object.assign({}, ...some(random, () => random.pick(KEYWORDS)(random, sub), 4));
  // ajv 8.20 lets an empty array pass "contains" next to "prefixItems", so it cannot be compared there.
  if ("contains" in schema) delete schema.prefixItems;
  return schema;
}

const $defs = {
  // Contains itself: a tree of any depth.
  tree: { type: ["object", "number"], properties: { a: { $ref: "#/$defs/tree" } }, required: ["a"] },
  "a/b": { type: ["string", "array"], items: { $ref: "#/$defs/tree" } },
  é: { minLength: 1, minItems: 1, minProperties: 1 },
};

function disagreement(schema: JsonSchema, values: readonly unknown[]): string | undefined {
  const expected = ajv.compile(schema);
  const check = compileSchema(schema);
  for (const value of values) {
    const problem = check(value);
    if (expected(value) !== (problem === undefined)) {
      return `${JSON.stringify(schema)}\nwith ${JSON.stringify(value)}\najv: ${JSON.stringify(expected.errors)}\nwe: ${problem}`;
    }
    if (problem !== undefined && (!/[.?]$/.test(problem) || /undefined|\[object|NaN/.test(problem))) {
      return `not a sentence: ${problem}`;
    }
  }
  return undefined;
}

test("agrees with ajv about random schemas and values", { timeout: 120_000 }, () => {
  const random = seededRandom(2020);
  let fitting = 0;
  let checked = 0;
  for (let round = 0; round < 500; round++) {
    const schema = { ...(randomSchema(random, 3) as object), $defs };
    const values = Array.from({ length: 12 }, () => randomValue(random, 3));
    expect(disagreement(schema, values)).toBeUndefined();
    const check = compileSchema(schema);
    fitting += values.filter((value) => check(value) === undefined).length;
    checked += values.length;
  }
  // Both answers must be common, or agreement would mean little.
  expect(fitting / checked).toBeGreaterThan(0.15);
  expect(fitting / checked).toBeLessThan(0.85);
});

describe("function schemas as people write them", () => {
  const schemas = functionSchemas();

  /** A value that is likely to fit: what a model would send. */
  function likely(schema: JsonSchema, random: Random): unknown {
    if (random.chance(0.05)) return random.pick(SCALARS);
    if (Array.isArray(schema.enum)) return random.pick(schema.enum);
    const { properties = {}, items = {} } = schema as Record<string, Record<string, JsonSchema>>;
    const entries = Object.entries(properties).filter(() => random.chance(0.9));
    switch (schema.type) {
      case "object":
        return Object.fromEntries(entries.map(([name, one]) => [name, likely(one, random)]));
      case "array":
        return Array.from({ length: random.below(3) }, () => likely(items, random));
      case "string":
        return "a";
      case "boolean":
        return true;
      default:
        return random.pick([1, 1.5]);
    }
  }

  test("are refused with the types of another system, and the message names the type", () => {
    let refused = 0;
    for (const { name, parameters } of schemas) {
      try {
        compileSchema(parameters, "parameters");
      } catch (error) {
        refused++;
        expect(error, name).toBeInstanceOf(SchemaError);
        expect((error as Error).message, name).toMatch(
          /^parameters\S* ?.*\.type is ".*", which is not a JSON Schema type/s,
        );
      }
    }
    expect(refused).toBe(schemas.length);
  });

  test("agree with ajv once their types are JSON Schema's", { timeout: 120_000 }, () => {
    const random = seededRandom(4);
    let compared = 0;
    for (const { name, parameters } of schemas) {
      const schema = withJsonTypes(parameters) as JsonSchema;
      if (!ajv.validateSchema(schema)) {
        expect(() => compileSchema(schema), name).toThrow(SchemaError);
        continue;
      }
      compared++;
      const values = Array.from({ length: 5 }, () => likely(schema, random));
      expect(disagreement(schema, values), name).toBeUndefined();
    }
    expect(compared).toBeGreaterThan(schemas.length * 0.95);
  });
});
