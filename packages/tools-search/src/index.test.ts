import { ToolRegistry } from "@agent/core";
import { describe, expect, test } from "vitest";
import * as pack from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

test("exports exactly this public API", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "followsDirectory",
    "packApiVersion",
    "packName",
    "register",
    "searchFilesTool",
    "searchTextTool",
  ]);
});

describe("register", () => {
  test("registers both tools, enabled, and labels them as reading only", () => {
    const registry = new ToolRegistry();
    pack.register(registry);
    expect(registry.getToolNames()).toEqual(["search_text", "search_files"]);
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual([
      "search_text",
      "search_files",
    ]);
    expect(pack.searchTextTool().capabilities).toEqual(["read"]);
    expect(pack.searchFilesTool().capabilities).toEqual(["read"]);
  });

  test.each([
    [{ maxResult: 5 }, "maxResult"],
    [{ timeoutMs: "5" }, "timeoutMs"],
    [{ workers: -1 }, "workers"],
    [{ root: 7 }, "root"],
    [{ autoContext: 3 }, "autoContext"],
  ])("refuses the options %j by name", (options, name) => {
    expect(() => pack.register(new ToolRegistry(), { context, options: options as never })).toThrow(name);
  });

  test("refuses a root that does not exist when it registers, not at the first call", () => {
    const options = { root: "/no/such/directory" };
    expect(() => pack.register(new ToolRegistry(), { context, options })).toThrow("/no/such/directory");
  });

  test("takes every documented option", () => {
    const options = {
      root: ".",
      maxResults: 5,
      maxLineLength: 80,
      timeoutMs: 1000,
      workers: 0,
      autoContext: true,
    };
    pack.register(new ToolRegistry(), { context, options });
  });
});

test("refuses before a tool runs arguments that do not fit the schema", async () => {
  const registry = new ToolRegistry();
  pack.register(registry);
  expect(await registry.execute("search_text", { query: "x", paths: "src" })).toContain("paths");
  expect(await registry.execute("search_text", { query: "x", paths: ["."], ignoreCase: true })).toContain(
    "ignoreCase",
  );
  expect(await registry.execute("search_files", {})).toContain("pattern");
});
