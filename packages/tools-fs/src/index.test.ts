import { ToolRegistry } from "@agent/core";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../test/support.js";
import { packApiVersion, packName, register } from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

test("exports exactly this public API", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "PROTECTED_PATTERNS",
    "Workspace",
    "applyPatchTool",
    "editFileTool",
    "followsDirectory",
    "listDirTool",
    "mkdirTool",
    "moveTool",
    "packApiVersion",
    "packName",
    "readFileTool",
    "register",
    "removeTool",
    "writeFileTool",
  ]);
});

test("registers seven tools, and only remove starts disabled", () => {
  const registry = new ToolRegistry();
  register(registry);
  expect(registry.getToolNames()).toEqual([
    "read_file",
    "write_file",
    "edit_file",
    "list_dir",
    "mkdir",
    "move",
    "remove",
  ]);
  const disabled = registry.getToolNames().filter((name) => !registry.isToolEnabled(name));
  expect(disabled).toEqual(["remove"]);
});

test("Scenario: Destructive tools are disabled by default", async () => {
  const registry = new ToolRegistry();
  register(registry);
  expect(registry.isToolEnabled("remove")).toBe(false);
  expect(await registry.execute("remove", { path: "x" })).toBe("Tool not available: remove");
});

test("declares the capabilities of every tool", () => {
  const registry = new ToolRegistry();
  register(registry);
  const labels = registry.describeTools().map(({ name, capabilities }) => `${name}: ${capabilities.join()}`);
  expect(labels).toEqual([
    "read_file: read",
    "write_file: write",
    "edit_file: write",
    "list_dir: read",
    "mkdir: write",
    "move: write",
    "remove: destroy",
  ]);
});

test("declares its name and the API version it was built for", () => {
  expect([packName, packApiVersion]).toEqual(["@agent/tools-fs", 1]);
});

test.each([
  [{ rot: "/" }, "rot"],
  [{ root: 1 }, "root"],
  [{ root: "" }, "root"],
  [{ protect: "x" }, "protect"],
  [{ protect: [1] }, "protect"],
  [{ maxReadBytes: 0 }, "maxReadBytes"],
  [{ maxReadLines: 1.5 }, "maxReadLines"],
  [{ maxEntries: "10" }, "maxEntries"],
])("reports an unknown or mistyped option when the pack registers: %j", (options, named) => {
  expect(() => register(new ToolRegistry(), { context, options: options as never })).toThrow(named);
});

test("reports a root that does not exist when the pack registers", () => {
  const options = { root: `${temporaryDirectory()}/nowhere` };
  expect(() => register(new ToolRegistry(), { context, options })).toThrow("nowhere");
});
