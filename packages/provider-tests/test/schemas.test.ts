import { Agent, defineTool, type JsonSchema } from "@agent/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { startStrictServer } from "./strict/server.js";
import { WIRES } from "./strictWires.js";

/** Schemas as people and libraries write them, each with something that at least one server refuses. */

const answerOf = (answer: object, more: object = {}): JsonSchema => ({
  type: "object",
  properties: { answer },
  required: ["answer"],
  additionalProperties: false,
  ...more,
});
const TEXT = { type: "string" };

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  "a limit of length": answerOf({ ...TEXT, minLength: 1 }),
  "a format that not every server knows": answerOf({ anyOf: [TEXT, { ...TEXT, format: "uri" }] }),
  "a property without a type": answerOf({ description: "Anything." }),
  "a choice at the top": answerOf(TEXT, { anyOf: [{ required: ["answer"] }] }),
  "an open object": answerOf(TEXT, { additionalProperties: true }),
  "definitions under their earlier name, with text next to the reference": answerOf(
    { $ref: "#/definitions/Text", description: "The answer." },
    { definitions: { Text: { type: "string", title: "Text" } } },
  ),
  "a list without items": answerOf(
    { anyOf: [TEXT, { type: "array" }] },
    { $schema: "http://json-schema.org/draft-07/schema#" },
  ),
  "values that are not text": answerOf({ anyOf: [TEXT, { enum: [true, null] }, { const: false }] }),
  "one of several": answerOf({ oneOf: [TEXT, { type: "array", items: TEXT, uniqueItems: true }] }),
};

describe.each(WIRES)("on $name", ({ wire, create }) => {
  test.each(Object.entries(SCHEMAS))(
    "accepts a structured answer and a tool with %s",
    async (_name, schema) => {
      const server = await startStrictServer(wire);
      onTestFinished(() => server.close());
      const agent = new Agent(create(server.baseURL));
      agent.addTool(
        defineTool({
          name: "look_up",
          description: "Looks up.",
          input: schema,
          execute: async () => "found",
        }),
      );
      expect((await agent.run("Question", { output: schema })).output).toEqual({ answer: "Answer 2." });
      expect(server.refusals).toEqual([]);
    },
  );
});
