import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../tools/tool.js";
import { compileSchema } from "./compile.js";

const check = (schema: JsonSchema, value: unknown) => compileSchema(schema)(value);
const TOO_MUCH =
  /^the arguments cannot be checked: .*takes more than \d+ steps\. Pass fewer or simpler values\.$/;
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

// V8's matcher would run for minutes or forever on each of these.
describe("a pattern that could backtrack for long is left to the tool", () => {
  const UNKNOWN: [string, string][] = [
    ["^(a+)+$", `${"a".repeat(100)}!`],
    ["^(a|aa)+$", `${"a".repeat(100)}!`],
    ["^(\\w+\\s?)*$", `${"word ".repeat(20)}!`],
    ["(x+x+)+y", "x".repeat(100)],
    ["^(?:(?:a?){50}){3}b{50}$", "a".repeat(50)],
    [`^${"a?".repeat(40)}${"a".repeat(40)}!$`, "a".repeat(40)],
    [`^${"(a|a)".repeat(40)}!$`, "a".repeat(40)],
    ["^(?=(?:a|a)*b)", "a".repeat(100)],
    ["(?<=^(?:a|aa)*)b", "a".repeat(100)],
    ["^(a+)+\\1$", `${"a".repeat(50)}!`],
    ["^(?<x>a+)+\\k<x>$", `${"a".repeat(50)}!`],
    ["^.*.*.*.*x$", "a".repeat(100_000)],
    ["a*b", "a".repeat(100_000)],
    ["(((a{1,99}){99}){99}){99}", "a".repeat(100)],
    ["a{20000}b", "a".repeat(40_000)],
    ["(?:(?:a{30}){30}){20}b", "a".repeat(40_000)],
    ["(?:(?=a{1000})a){1000}b", "a".repeat(2500)],
    ["^(?:(?:(?:){1000}){1000}){1000}b", ""],
    ["(?:(?:){20000}){20000,}b", "a"],
  ];
  test.each(UNKNOWN)("%s", (pattern, text) => {
    expect(check({ pattern }, text)).toBeUndefined();
    expect(check({ patternProperties: { [pattern]: false } }, { [text]: 1 })).toBeUndefined();
    expect(
      check({ patternProperties: { [pattern]: true }, additionalProperties: false }, { [text]: 1 }),
    ).toBeUndefined();
    expect(check({ propertyNames: { pattern } }, { [text]: 1 })).toBeUndefined();
  });

  test.each<[string, string, boolean]>([
    ["^[a-z]{0,5000}$", "a".repeat(5000), true],
    ["^[a-z]{0,5000}$", "a".repeat(5001), false],
    ["^(GET|POST|PUT|DELETE)$", "PATCH", false],
    ["^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2})?$", "2026-11-18T10:00", true],
    ["^[^@]+@[^@]+\\.[a-z]+$", "ann@example", false],
    ["^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$", "00:11:22:33:44:5g", false],
    ["^[\\w(+*|]+$", "a(+*|b!", false],
    ["^a+$", `${"a".repeat(1_000_000)}!`, false],
    ["^a{20000}b", `${"a".repeat(40_000)}`, false],
    ["[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "-".repeat(100_000), false],
  ])("checks %s", (pattern, text, fits) => {
    expect(check({ pattern }, text) === undefined).toBe(fits);
  });

  test("a pattern of very many parts", () => {
    expect(check({ pattern: `${"[ab]".repeat(20_000)}c` }, "a".repeat(40_000))).toBeUndefined();
  });

  test("keeps the count of steps after a short text", () => {
    const tooMany = many(5000, () => `${"a".repeat(250)}!`);
    const schema = { prefixItems: [{ pattern: "^(a+)+$" }], items: { pattern: "^a*b*c*!$" } };
    expect(check(schema, ["a", ...tooMany])).toMatch(TOO_MUCH);
  });

  test("counts many checked texts together", () => {
    const schema = { items: { pattern: "^a*b*c*!$" } };
    expect(
      check(
        schema,
        many(5000, () => `${"a".repeat(250)}!`),
      ),
    ).toMatch(TOO_MUCH);
  });
});

describe("large values are checked in one pass", () => {
  const items = many(100_000, (index) => ({ id: index, tags: ["a", index] }));

  test("uniqueItems", () => {
    expect(check({ uniqueItems: true }, items)).toBeUndefined();
    expect(check({ uniqueItems: true }, [...items, { tags: ["a", 7], id: 7 }])).toBe(
      '"[100000]" appears more than once.',
    );
  });

  test("distinguishes in uniqueItems a text from what it looks like", () => {
    expect(
      check({ uniqueItems: true }, [[1], ["1"], "[1]", { a: 1 }, '{"a":1}', [[]], [], ["1", 2], [1, "2"]]),
    ).toBeUndefined();
  });

  test("enum and const", () => {
    expect(check({ items: { enum: items } }, items)).toBeUndefined();
    expect(check({ items: { enum: many(20_000, String) } }, many(20_000, String))).toBeUndefined();
    expect(check({ const: items }, structuredClone(items))).toBeUndefined();
  });

  test("a million items, ten megabytes of text", () => {
    expect(
      check(
        { items: { type: "integer", minimum: 0 } },
        many(1_000_000, (index) => index),
      ),
    ).toBeUndefined();
    expect(check({ maxLength: 10_000_000, minLength: 6_000_000 }, "é".repeat(10_000_000))).toBeUndefined();
  });

  test("keeps the message about a gigantic key short", () => {
    const message = check(
      { additionalProperties: false, properties: { [`${"k".repeat(50_000)}x`]: {} } },
      { ["k".repeat(50_000)]: 1 },
    );
    expect(message).toContain("is not known");
    expect(message?.length).toBeLessThan(10_000);
  });
});

describe("what would take too long is refused with a message, and the next value is checked as ever", () => {
  const level = (index: number): JsonSchema => ({ $ref: `#/properties/a/$defs/n${index}` });
  const doubling = (keyword: string): JsonSchema => ({
    ...level(0),
    $defs: Object.fromEntries([
      ...many(40, (index) => [`n${index}`, { [keyword]: [level(index + 1), level(index + 1)] }]),
      ["n40", { type: "string" }],
    ]),
  });

  test.each<[string, JsonSchema, unknown]>([
    ["alternatives within alternatives", doubling("anyOf"), 1],
    ["exactly one of exactly one", doubling("oneOf"), 1],
    ["all of all", doubling("allOf"), "a"],
    [
      "a tree that is looked at twice at each level",
      {
        anyOf: [
          { type: "null" },
          { properties: { a: { $ref: "#/properties/a" } }, minProperties: 2 },
          { properties: { a: { $ref: "#/properties/a" } }, minProperties: 3 },
        ],
      },
      many(60, () => 0).reduce<unknown>((inner) => ({ a: inner }), 1),
    ],
    [
      "many alternatives for many items",
      { items: { anyOf: many(10_000, (index) => ({ const: index })) } },
      many(100_000, () => 9999),
    ],
    [
      "many required names in many objects",
      { items: { required: many(10_000, () => "a") } },
      many(100_000, () => ({ a: 1 })),
    ],
    [
      "many rules about one large object",
      { allOf: many(1000, () => ({ minProperties: 1 })) },
      Object.fromEntries(many(100_000, (index) => [`k${index}`, 1])),
    ],
    [
      "many rules about one large array",
      { allOf: many(1000, () => ({ prefixItems: [true] })) },
      many(100_000, () => 1),
    ],
    [
      "many rules about one large text",
      { allOf: many(1000, () => ({ maxLength: 999_999 })) },
      "😀".repeat(999_999),
    ],
  ])("%s", (_name, schema, value) => {
    const validate = compileSchema({ properties: { a: schema, b: { type: "string" } } });
    expect(validate({ a: value })).toMatch(TOO_MUCH);
    expect(validate({ b: "x" })).toBeUndefined();
  });

  test("a value and a schema that are nested too deeply together", () => {
    const through = (index: number): JsonSchema => ({ $ref: `#/$defs/n${index % 50}` });
    const schema = {
      ...through(0),
      $defs: Object.fromEntries(
        many(50, (index) => [`n${index}`, { properties: { a: { allOf: [through(index + 1)] } } }]),
      ),
    };
    const deep = many(20_000, () => 0).reduce<unknown>((inner) => ({ a: inner }), {});
    expect(check(schema, deep)).toMatch(/nested too deeply/);
    expect(check({ uniqueItems: true }, [deep, deep])).toMatch(/nested too deeply/);
  });

  test("compiles once a target that many pointers spell differently", () => {
    const spellings = many(8000, (index) => ({
      $ref: `#/$defs/${[..."abcdefghijklm"].map((one, bit) => ((index >> bit) & 1 ? `%${one.charCodeAt(0).toString(16)}` : one)).join("")}`,
    }));
    const schema = {
      anyOf: spellings,
      $defs: { abcdefghijklm: { anyOf: many(5000, (index) => ({ const: index })) } },
    };
    expect(check(schema, 4999)).toBeUndefined();
  });
});
