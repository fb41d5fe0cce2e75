import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../../", import.meta.url));
const source = (path: string) => readFileSync(`${PACKAGES}${path}`, "utf8");

/** Every file of core that a file needs at run time, itself included: imports of types alone do not count. */
function needed(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, names, target] of source(path).matchAll(/^(?:im|ex)port (.*?)from "(\.[^"]+)\.js";$/gms)) {
    if (names?.startsWith("type ") || target === undefined) continue;
    needed(new URL(`${target}.ts`, `file:///${path}`).pathname.slice(1), seen);
  }
  return seen;
}

test("Scenario: Interface and types separated", () => {
  expect(source("core/src/tools/interface.ts")).toContain("export interface ExecutableTool");
  expect(source("core/src/tools/types.ts")).toContain("export interface ToolContext");
  expect(readdirSync(`${PACKAGES}core/src/tools`)).not.toContain("index.ts");
});

test("Scenario: Registry is standalone: it needs no tool, no pack and no agent", () => {
  expect(source("core/src/tools/registry.ts")).toContain("export class ToolRegistry");
  const files = [...needed("core/src/tools/registry.ts")];
  expect(files).toContain("core/src/tools/execution.ts");
  expect(files.filter((file) => /sessionContext|factory|packs|agent\.ts|loop/.test(file))).toEqual([]);
});

test("Scenario: Tool implementations are separate files: one for each tool, core's own and the packs'", () => {
  expect(source("core/src/tools/sessionContext.ts")).toContain("export class SaveSessionContextTool");
  for (const pack of ["tools-fs", "tools-search", "tools-bash"]) {
    const folder = `${pack}/src/tools`;
    const files = readdirSync(`${PACKAGES}${folder}`).filter((file) => /(?<!\.test)\.ts$/.test(file));
    expect(files.length, pack).toBeGreaterThan(0);
    for (const file of files) {
      expect(source(`${folder}/${file}`).match(/^export class \w+Tool /gm), file).toHaveLength(1);
    }
  }
});
