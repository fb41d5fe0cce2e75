import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@agent/core";
import { expect, onTestFinished, test } from "vitest";
import { register } from "./index.js";

/** A project with two files, and a function that runs a search in it. */
function project() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tools-search-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "one\nTODO two\n");
  writeFileSync(join(root, "src/b.ts"), "TODO\n");
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, options: { root } });
  const run = async (name: string, args: Record<string, unknown>) =>
    (await registry.run(name, args, { wantsView: true })).view;
  return { root, run, registry };
}

test("reports matching lines with path and line, without their context", async () => {
  const { root, run } = project();
  expect(await run("search_text", { query: "TODO", paths: ["src"], context: 1 })).toEqual({
    type: "list",
    items: [
      { text: "TODO two", path: join(root, "src/a.ts"), line: 2 },
      { text: "TODO", path: join(root, "src/b.ts"), line: 1 },
    ],
  });
});

test("reports matching files, and counts those that are not shown", async () => {
  const { root, run } = project();
  expect(await run("search_text", { query: "TODO", paths: ["."], files_only: true })).toMatchObject({
    items: [{ path: join(root, "src/a.ts") }, { path: join(root, "src/b.ts") }],
  });
  expect(await run("search_files", { pattern: "*.ts", path: "src", max_results: 1 })).toEqual({
    type: "list",
    items: [{ text: "src/a.ts", path: join(root, "src/a.ts") }],
    more: 1,
  });
});

test("makes no view for a host that shows none", async () => {
  const { registry } = project();
  const result = await registry.run("search_files", { pattern: "**" });
  expect(result.outcome).toBe("ok");
  expect(result).not.toHaveProperty("view");
});
