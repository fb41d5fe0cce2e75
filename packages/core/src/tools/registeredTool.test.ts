import { describe, expect, test } from "vitest";
import { fakeTool, registryWith } from "../../test/fixtures.js";
import { AgentError } from "../errors.js";
import { ToolRegistry } from "./registry.js";
import type { ExecutableTool, ToolCapability } from "./tool.js";

describe("what register refuses", () => {
  test("a name that is registered already, naming both sides; the first tool stays", async () => {
    const registry = new ToolRegistry();
    registry.register(
      fakeTool("a", () => "first"),
      { source: "@x/one" },
    );
    expect(() => registry.register(fakeTool("a"), { source: "@x/two" })).toThrow(
      'Tool "a" is registered already by @x/one; a second one by @x/two was refused.',
    );
    expect(await registry.execute("a", {})).toBe("first");
  });

  test.each(["", "has space", "dot.name", "a".repeat(65), "аdmin", "name\n", "../x"])(
    "the name %j, which the model API would refuse",
    (name) => {
      expect(() => registryWith(fakeTool(name))).toThrow(/name must be 1 to 64 letters/);
    },
  );

  test.each([undefined, null, 4, {}, { name: 7 }])("%j, which is not a tool", (value) => {
    expect(() => new ToolRegistry().register(value as unknown as ExecutableTool)).toThrow(/name/);
  });

  test("Scenario: Tool name matches schema: a schema with another name is refused, naming both", () => {
    const tool = { ...fakeTool("a"), getSchema: fakeTool("b").getSchema };
    expect(() => registryWith(tool)).toThrow(
      'Tool "a": its schema is named "b"; both names must be the same.',
    );
  });

  test("a getSchema that throws, is cyclic, or returns no valid JSON Schema; the others stay", () => {
    const registry = registryWith(fakeTool("good"));
    const cyclic: Record<string, unknown> = { type: "function" };
    cyclic.function = cyclic;
    const schemas: (() => unknown)[] = [
      () => {
        throw new Error("boom");
      },
      () => cyclic,
      () => undefined,
      () => ({ type: "function", function: { name: "bad", parameters: { type: "dict" } } }),
      () => ({
        type: "function",
        function: { name: "bad", parameters: { type: "object", required: "path" } },
      }),
      () => ({ type: "function", function: { name: "bad", description: 4 } }),
    ];
    for (const getSchema of schemas) {
      const bad = { ...fakeTool("bad"), getSchema } as unknown as ExecutableTool;
      expect(() => registry.register(bad)).toThrow(/^Tool "bad": /);
    }
    expect(registry.getToolNames()).toEqual(["good"]);
  });

  test.each([
    [
      { type: "object", properties: { n: { type: "float" } } },
      'its schema is not valid: parameters.properties.n.type is "float", which is not a JSON Schema type. Did you mean "number"?',
    ],
    [
      { type: "dict" },
      'its schema is not valid: parameters.type is "dict", which is not a JSON Schema type. Did you mean "object"?',
    ],
    [{ type: "string" }, 'parameters.type must be "object", got string "string".'],
    [{ properties: {} }, 'parameters.type must be "object", got nothing.'],
  ])("parameters %j, in one whole sentence", (parameters, message) => {
    const tool = fakeTool("a", undefined, { parameters });
    expect(() => registryWith(tool)).toThrow(new AgentError("tool_invalid", `Tool "a": ${message}`));
  });

  test("a description with invisible tag characters", () => {
    const hidden = fakeTool("a");
    const getSchema = () => ({
      type: "function" as const,
      function: { name: "a", description: "Nice\u{e0041}\u{e0042}" },
    });
    expect(() => registryWith({ ...hidden, getSchema })).toThrow(/holds invisible tag characters/);
  });

  test("an unknown capability, naming the known ones", () => {
    const tool = { ...fakeTool("a"), capabilities: ["delete"] } as unknown as ExecutableTool;
    expect(() => registryWith(tool)).toThrow(
      '"delete" is not a capability. Known: "read", "write", "destroy", "execute", "network".',
    );
  });

  test.each<[string, object, string]>([
    ["no execute()", { execute: 7 }, "it has no execute(args) method."],
    ["no getSchema()", { getSchema: undefined }, "it has no getSchema() method."],
    [
      "capabilities that are not a list",
      { capabilities: "read" },
      'capabilities must be an array, got string "read".',
    ],
    [
      "repeatable that is neither true nor false",
      { repeatable: 1 },
      "repeatable must be true or false, got number 1.",
    ],
    ["an unknown kind", { kind: "planning" }, "kind must be one of read, edit, "],
    ["a title from no name", { titleFrom: 7 }, "titleFrom must be the names of arguments, got number 7."],
    [
      "a title from a list with no name",
      { titleFrom: ["path", 7] },
      "titleFrom must be the names of arguments",
    ],
    ["a freeform without its argument", { freeform: { lark: "x" } }, "freeform must be { argument, lark }"],
    ["a freeform without a grammar", { freeform: { argument: "x" } }, "freeform must be { argument, lark }"],
    ["a freeform that is null", { freeform: null }, "freeform must be { argument, lark }, got null."],
    [
      "a replaced tool that is not a name",
      { insteadOf: 7 },
      "insteadOf must be the name of a tool, got number 7.",
    ],
  ])("%s", (_, more, problem) => {
    const tool = { ...fakeTool("a"), ...more } as never;
    expect(() => registryWith(tool)).toThrow(`Tool "a": ${problem}`);
  });

  test.each<[unknown, string]>([
    [{ type: "tool", function: { name: "a" } }, "getSchema() must return"],
    [{ type: "function", function: null }, "getSchema() must return"],
    [{ type: "function" }, "getSchema() must return"],
    [null, "getSchema() must return"],
    [undefined, "getSchema() returned nothing."],
    [
      { type: "function", function: { name: "a", description: 4 } },
      "its description must be a string, got number 4.",
    ],
  ])("the schema %j", (schema, problem) => {
    expect(() => registryWith({ ...fakeTool("a"), getSchema: () => schema as never })).toThrow(
      `Tool "a": ${problem}`,
    );
  });

  test.each<[object, string]>([
    [{ enabled: 1 }, "enabled must be true or false"],
    [{ deferred: "yes" }, "deferred must be true or false"],
    [{ foreign: 1 }, "foreign must be true or false"],
    [{ source: 7 }, "source must be a string"],
    [{ enbled: true }, 'Did you mean "enabled"?'],
  ])("the option %j", (options, problem) => {
    expect(() => new ToolRegistry().register(fakeTool("a"), options as never)).toThrow(problem);
  });
});

test("takes capabilities as they were when the tool was registered", () => {
  const capabilities: ToolCapability[] = ["write"];
  const registry = registryWith(fakeTool("a", undefined, { capabilities }));
  capabilities[0] = "read";
  expect(registry.getCapabilities("a")).toEqual(["write"]);
  expect(Object.isFrozen(registry.getCapabilities("a"))).toBe(true);
});
