import { expect, test } from "vitest";
import { JsonTexts, jsonBody, jsonItems } from "./jsonBody.js";
import { TurnList } from "./turns.js";

test("a text is made once for an object, and again when it depends on something else", () => {
  const texts = new JsonTexts();
  const [one, other] = [{}, {}];
  let made = 0;
  const make = () => ({ text: `${++made}` });
  expect([texts.get(one, make).text, texts.get(one, make).text, texts.get(other, make).text]).toEqual([
    "1",
    "1",
    "2",
  ]);
  expect([texts.get(one, make, "ids").text, texts.get(one, make, "ids").text]).toEqual(["3", "3"]);
});

test("a long text is not kept in memory beside the object", () => {
  const texts = new JsonTexts();
  const source = {};
  let made = 0;
  const make = () => ({ text: `${++made}`.padStart(100_000) });
  texts.get(source, make);
  texts.get(source, make);
  expect(made).toBe(2);
});

test.each([
  [{ a: 1 }, { b: "[2]" }, '{"a":1,"b":[2]}'],
  [{}, { b: "[]", c: '"\\n"' }, '{"b":[],"c":"\\n"}'],
  [{ a: 1 }, { b: undefined }, '{"a":1}'],
  [{ a: "ä\ud800" }, { 'b"': "1" }, '{"a":"ä\\ud800","b\\"":1}'],
])("a body is its fields and then those that are text already: %j %j", (fields, texts, body) => {
  expect(jsonBody(fields, texts)).toBe(body);
});

test("what follows in the same role joins its turn", () => {
  const list = new TurnList<"user" | "model">();
  list.add("user", jsonItems([{ a: 1 }, { b: 2 }]));
  list.add("user", jsonItems([{ c: 3 }]));
  list.add("model", jsonItems([{ d: 4 }]));
  expect(JSON.parse(list.toJson("parts"))).toEqual([
    { role: "user", parts: [{ a: 1 }, { b: 2 }, { c: 3 }] },
    { role: "model", parts: [{ d: 4 }] },
  ]);
});
