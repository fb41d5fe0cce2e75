import { describe, expect, test } from "vitest";
import { fakeTool, registryWith } from "../../test/fixtures.js";
import { AgentError } from "../errors.js";
import { ToolRegistry } from "./registry.js";
import type { ExecutableTool } from "./tool.js";

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
});
