import { expect, test } from "vitest";
import { Conversation } from "../conversation/conversation.js";
import { defineTool } from "../tools/defineTool.js";
import { createToolRegistry } from "../tools/factory.js";
import type { ToolRegistry } from "../tools/registry.js";
import type { ToolCapability } from "../tools/tool.js";
import { Permissions } from "./permissions.js";

const tool = (name: string, capability: ToolCapability) =>
  defineTool({
    name,
    description: name,
    capabilities: [capability],
    input: { type: "object", properties: {} },
    execute: () => name,
  });

function permissionsOf(registry: ToolRegistry): Permissions {
  return new Permissions({ registry, mode: "auto", root: "/" });
}

test("turns off tools that come while the user plans until they leave plan mode", () => {
  const registry = createToolRegistry(new Conversation(), []);
  const permissions = permissionsOf(registry);
  permissions.mode = "plan";
  for (const one of [tool("look", "read"), tool("write", "write")]) registry.register(one);
  registry.register(tool("run", "execute"), { enabled: false });
  const enabled = (): string[] => ["look", "write", "run"].filter((name) => registry.isToolEnabled(name));
  expect(enabled()).toEqual(["look"]);
  permissions.mode = "auto";
  expect(enabled()).toEqual(["look", "write"]);
});

test("removes tools in plan mode and restores them, except those the user turned off meanwhile", () => {
  const registry = createToolRegistry(new Conversation(), [
    {
      packName: "test",
      register(pack) {
        for (const one of [tool("look", "read"), tool("write", "write"), tool("run", "execute")]) {
          pack.register(one);
        }
      },
    },
  ]);
  const enabled = (): string[] => ["look", "write", "run"].filter((name) => registry.isToolEnabled(name));
  const permissions = permissionsOf(registry);
  permissions.mode = "plan";
  expect(enabled()).toEqual(["look"]);
  registry.disable("run");
  permissions.leaveOff("run");
  permissions.mode = "auto";
  expect(enabled()).toEqual(["look", "write"]);
});

test("starts in plan mode with the tools that only read, and the one that saves notes about the session", () => {
  const registry = createToolRegistry(new Conversation(), []);
  for (const one of [tool("look", "read"), tool("write", "write")]) registry.register(one);
  new Permissions({ registry, mode: "plan", root: "/" });
  const enabled = ["look", "write", "save_session_context"].filter((name) => registry.isToolEnabled(name));
  expect(enabled).toEqual(["look", "save_session_context"]);
});
