import { expect, test } from "vitest";
import { parseArgument } from "./toolArguments.js";

test.each([
  ["5", { type: "integer" }, 5],
  ["five", { type: "integer" }, "five"],
  ["5", { type: "string" }, "5"],
  ["true", { type: "boolean" }, true],
  ["src", { type: "array", items: { type: "string" } }, ["src"]],
  ["[1,2]", { type: "array", items: { type: "integer" } }, [1, 2]],
  ['{"a":1}', { type: "object" }, { a: 1 }],
  ["{broken", { type: "object" }, "{broken"],
  ["1", {}, 1],
  ["x", undefined, "x"],
])("converts %j for %j to %j", (text, schema, value) => {
  expect(parseArgument(text, schema)).toEqual(value);
});
