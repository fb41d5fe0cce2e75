import { type ChatTool, type ExecutableTool, isAgentError, ToolRegistry } from "@agent/core";
import { functionSchemas, withJsonTypes } from "@agent/test-support";
import { describe, expect, test } from "vitest";

type Block = ChatTool["function"];

describe("function schemas as people write them", () => {
  const blocks: readonly Block[] = functionSchemas();

  test("are registered as they come, or refused with a message that names the tool or its name", () => {
    for (const block of blocks) {
      const refusal = refusalOf(block);
      // "dict" is not a JSON Schema type, so none of them is valid unchanged.
      expect(refusal).toMatch(/^(Tool ".+": .*("dict"|parameters)|A tool's name must be 1 to 64 letters)/s);
    }
  });

  test("are mostly accepted and run with the types of JSON Schema; the rest is refused for a stated reason", async () => {
    let accepted = 0;
    for (const block of blocks) {
      const repaired = {
        ...block,
        name: block.name.replaceAll(".", "_").slice(0, 64),
        parameters: withJsonTypes(block.parameters),
      };
      const registry = new ToolRegistry();
      const refusal = refusalOf(repaired as Block, registry);
      if (refusal !== undefined) {
        expect(refusal).toMatch(/^Tool ".+": its schema is not valid: parameters/s);
        continue;
      }
      accepted++;
      await checkCalls(registry, repaired as Block);
    }
    expect(accepted / blocks.length).toBeGreaterThan(0.95);
  });
});

/** Checks that calls with any arguments give a string and a known outcome; a missing required one is named. */
async function checkCalls(registry: ToolRegistry, block: Block): Promise<void> {
  const { required = [], properties = {} } = (block.parameters ?? {}) as {
    required?: string[];
    properties?: object;
  };
  const empty = await registry.run(block.name, {});
  expect(empty.outcome).toBe(required.length > 0 ? "error" : "ok");
  if (required.length > 0) expect(empty.text).toContain(required[0]);
  for (const value of [null, "text", -1, [], {}]) {
    const args = Object.fromEntries(Object.keys(properties).map((name) => [name, value]));
    const { outcome, text } = await registry.run(block.name, args);
    expect(["ok", "error"]).toContain(outcome);
    expect(text).not.toMatch(/undefined|\[object/);
  }
}

function refusalOf(block: Block, registry = new ToolRegistry()): string | undefined {
  const tool: ExecutableTool = {
    name: block.name,
    getSchema: () => ({ type: "function", function: block }),
    execute: async () => "ran",
  };
  try {
    registry.register(tool);
    return undefined;
  } catch (error) {
    if (!isAgentError(error, "tool_invalid")) throw error;
    return error.message;
  }
}
