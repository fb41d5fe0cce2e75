import { expect, test } from "vitest";
import { fakeTool } from "../../test/fixtures.js";
import { ToolRegistry } from "../tools/registry.js";
import { toolSubset } from "./run.js";

test("restricts a registry to the named tools, of which those that are off stay off", () => {
  const registry = new ToolRegistry();
  for (const name of ["a", "b", "c"]) registry.register(fakeTool(name));
  registry.disable("b");
  const tools = toolSubset(registry, new Set(["a", "b"]));
  expect(["a", "b", "c"].map((name) => tools.isToolEnabled(name))).toEqual([true, false, false]);
  expect(tools.getSharedSchemas().map((schema) => schema.function.name)).toEqual(["a"]);
});
