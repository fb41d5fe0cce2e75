import { createToolRegistry } from "@agent/core";
import { describePack } from "@agent/testing";
import { describe, expect, test } from "vitest";
import * as preset from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };

describe("a preset made of packs", () => {
  test("enables only reading tools; the user enables the rest", () => {
    const registry = createToolRegistry(context, [preset], { disable: ["save_session_context"] });
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual([
      "read_file",
      "list_dir",
      "search_text",
      "search_files",
    ]);
    expect(registry.hasTool("write_file")).toBe(true);
    expect(registry.hasTool("http_fetch")).toBe(true);
  });

  test("lets the user opt in by name", () => {
    const registry = createToolRegistry(context, [[preset, { http: { allow: ["example.com"] } }]], {
      enable: ["http_fetch"],
    });
    expect(registry.isToolEnabled("http_fetch")).toBe(true);
  });

  test("lists each tool under the pack it comes from", () => {
    const [tool] = createToolRegistry(context, [preset]).describeTools().slice(-1);
    expect([tool?.name, tool?.source]).toEqual(["http_fetch", "example-pack-http"]);
  });

  describePack(new URL("../dist/index.js", import.meta.url), {
    describe,
    test,
    setup: async (workspace) => {
      const { writeFile } = await import("node:fs/promises");
      await writeFile(`${workspace}/a.txt`, "hello\n");
    },
    samples: { read_file: { path: "a.txt" }, list_dir: { path: "." }, search_files: { pattern: "*.txt" } },
  });
});
