import { expect, test } from "vitest";
import { fakeContext, fakeTool } from "../../test/fixtures.js";
import { createToolRegistry } from "./factory.js";

test("accepts a single tool among packs as it is", async () => {
  const pack = {
    packName: "pair",
    register: (registry: { register(tool: unknown): void }) => registry.register(fakeTool("two")),
  };
  const registry = createToolRegistry(fakeContext(), [fakeTool("one"), pack, fakeTool("three")]);
  expect(registry.getToolNames()).toEqual(["save_session_context", "one", "two", "three"]);
  expect(await registry.execute("three", {})).toBe("three ran");
});

test("refuses a single tool with the name of another", () => {
  expect(() => createToolRegistry(fakeContext(), [fakeTool("one"), fakeTool("one")])).toThrow("one");
});

test("applies enable and disable to single tools", () => {
  const registry = createToolRegistry(fakeContext(), [fakeTool("one")], { disable: ["one"] });
  expect(registry.isToolEnabled("one")).toBe(false);
});
