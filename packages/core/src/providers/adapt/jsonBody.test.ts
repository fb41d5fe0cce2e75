import { expect, test } from "vitest";
import { JsonTexts, jsonBody, jsonItems } from "./jsonBody.js";
import { TurnList } from "./turns.js";

test("keeps a text for its object until what it depends on changes", () => {
  const texts = new JsonTexts();
  const [one, other] = [{}, {}];
  expect(texts.keep(one, "1")).toBe("1");
  expect([texts.get(one), texts.get(other), texts.get(one, "ids")]).toEqual(["1", undefined, undefined]);
  expect(texts.keep(one, "2", "ids")).toBe("2");
  expect([texts.get(one), texts.get(one, "ids")]).toEqual([undefined, "2"]);
});

test("does not keep a long text in memory next to the object", () => {
  const texts = new JsonTexts<object, string | { readonly text: string }>();
  const [one, other] = [{}, {}];
  const long = "1".padStart(100_000);
  expect([texts.keep(one, long), texts.keep(other, { text: long })]).toEqual([long, { text: long }]);
  expect([texts.get(one), texts.get(other)]).toEqual([undefined, undefined]);
});

test.each([
  [{ a: 1 }, { b: "[2]" }, '{"a":1,"b":[2]}'],
  [{}, { b: "[]", c: '"\\n"' }, '{"b":[],"c":"\\n"}'],
  [{ a: 1 }, { b: undefined }, '{"a":1}'],
  [{ a: "ä\ud800" }, { 'b"': "1" }, '{"a":"ä\\ud800","b\\"":1}'],
])("writes a body as its fields and then those that are text already: %j %j", (fields, texts, body) => {
  expect(jsonBody(fields, texts)).toBe(body);
});

test("adds what follows in the same role to its turn", () => {
  const list = new TurnList<"user" | "model">();
  list.add("user", jsonItems([{ a: 1 }, { b: 2 }]));
  list.add("user", jsonItems([{ c: 3 }]));
  list.add("model", jsonItems([{ d: 4 }]));
  expect(JSON.parse(list.toJson("parts"))).toEqual([
    { role: "user", parts: [{ a: 1 }, { b: 2 }, { c: 3 }] },
    { role: "model", parts: [{ d: 4 }] },
  ]);
});
