import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry, type PackHost, ToolRegistry } from "@agent/core";
import { expect, onTestFinished, test, vi } from "vitest";
import * as preset from "./index.js";
import { type PresetOptions, register } from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };

/** A project with something next to it that must not be reached. */
function scene(): { project: string; outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "preset-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [project, outside] = [join(base, "project"), join(base, "outside")];
  for (const directory of [project, outside]) {
    mkdirSync(directory);
    writeFileSync(join(directory, "notes.txt"), "milk\n");
  }
  return { project, outside };
}

function tools(options: PresetOptions, host: Partial<PackHost> = {}): ToolRegistry {
  const registry = new ToolRegistry();
  register(registry, { context, ...host, options });
  return registry;
}

test("confines file and search tools alike to one root", async () => {
  const { project, outside } = scene();
  const registry = tools({ root: project });
  const calls: [string, (directory: string) => Record<string, unknown>][] = [
    ["read_file", (directory) => ({ path: join(directory, "notes.txt") })],
    ["list_dir", (directory) => ({ path: directory })],
    ["search_text", (directory) => ({ query: "milk", paths: [directory] })],
    ["search_files", (directory) => ({ pattern: "*.txt", path: directory })],
    ["write_file", (directory) => ({ path: join(directory, "new.txt"), content: "x" })],
  ];
  for (const [name, args] of calls) {
    expect(await registry.execute(name, args(project)), name).not.toContain("Error");
    expect(await registry.execute(name, args(outside)), name).toContain("is outside");
  }
});

test("starts relative paths in the root, which is not where the server works", async () => {
  const { project } = scene();
  const registry = tools({ root: project });
  const calls: [string, Record<string, unknown>, string][] = [
    ["read_file", { path: "notes.txt" }, "milk"],
    ["write_file", { path: "new/deep.txt", content: "x" }, "Created"],
    ["list_dir", {}, "notes.txt"],
    ["search_text", { query: "milk", paths: ["."] }, "notes.txt:1:milk"],
    ["search_text", { query: "milk", paths: ["notes.txt"] }, "notes.txt:1:milk"],
    ["search_files", { pattern: "*.txt" }, "notes.txt"],
    ["move", { source: "notes.txt", destination: "kept.txt" }, "kept.txt"],
    ["read_file", { path: "../outside/notes.txt" }, "is outside"],
    ["search_text", { query: "milk", paths: ["../outside"] }, "is outside"],
  ];
  for (const [name, args, expected] of calls)
    expect(await registry.execute(name, args), name).toContain(expected);
  expect(existsSync(join(project, "new/deep.txt"))).toBe(true);
  expect(existsSync(join(project, "kept.txt"))).toBe(true);
});

test("starts relative paths at the working directory if the process works inside the root", async () => {
  const { project } = scene();
  mkdirSync(join(project, "sub"));
  writeFileSync(join(project, "sub", "own.txt"), "eggs\n");
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(join(project, "sub"));
  onTestFinished(() => cwd.mockRestore());
  const registry = tools({ root: project });
  expect(await registry.execute("read_file", { path: "own.txt" })).toBe("eggs\n");
  expect(await registry.execute("search_files", { pattern: "*.txt" })).toContain("own.txt");
  expect(await registry.execute("read_file", { path: "../notes.txt" })).toBe("milk\n");
});

test("prefers a block's own root to the common one", async () => {
  const { project, outside } = scene();
  const registry = tools({ root: project, search: { root: outside } });
  expect(await registry.execute("list_dir", { path: outside })).toContain("is outside");
  expect(await registry.execute("search_files", { pattern: "*.txt", path: outside })).toContain("notes.txt");
});

test("passes the host's access rules and protected paths to the packs", async () => {
  const { project, outside } = scene();
  const registry = tools({}, { access: { writable: [project] }, protectedPaths: [join(project, "trust")] });
  const write = (path: string) => registry.execute("write_file", { path, content: "x" });
  expect(await write(join(outside, "new.txt"))).toContain("outside the project");
  expect(await write(join(project, "trust/x"))).toContain("no tool changes it");
  expect(await write(join(project, "new.txt"))).toContain("Created");
});

test("does not let an agent in its own program write the configs of the agent command", async () => {
  const { project } = scene();
  const registry = createToolRegistry(context, [[preset, { root: project }]]);
  const write = (path: string, content: string) =>
    registry.execute("write_file", { path: join(project, path), content });
  for (const name of ["agent.config.ts", "sub/agent.config.json"]) {
    expect(await write(name, "{}"), name).toContain("no tool changes it");
  }
  expect(await write("package.json", '{"agent":{"enable":["run_bash"]}}')).toContain('"agent" in ');
  expect(await write("package.json", '{"name":"x"}')).toContain("Created");
});

test("reports a root that is not text when the preset registers", () => {
  expect(() => tools({ root: 1 } as never)).toThrow(/@agent\/preset-default: option .*root/);
});
