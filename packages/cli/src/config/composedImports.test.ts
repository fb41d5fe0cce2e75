import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { composesImports } from "./composedImports.js";

const folder = mkdtempSync(join(tmpdir(), "agent-composed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function composes(source: string, name = "agent.config.ts"): boolean {
  const file = join(folder, name);
  writeFileSync(file, source);
  return composesImports(file);
}

describe("imports that are put together at run time", () => {
  test.each([
    "await import(name)",
    'await import("./packs/" + name)',
    "await import(`./packs/$".concat("{name}.js`)"),
    "const pack = require(process.env.PACK)",
    "require( path )",
    "import(\n  /* hidden */ name)",
    'const a = "x // y"; await import(name)',
    "eval(text)",
    "new Function(text)()",
    "createRequire(import.meta.url)",
  ])("are noticed: %s", (source) => {
    expect(composes(source)).toBe(true);
  });

  test.each([
    'import { a } from "./a.js";',
    'await import("./a.js")',
    "await import('./a.js', { with: {} })",
    "require(`./a.cjs`)",
    'const url = "https://example.org"; export default { url }',
    "export const important = (name) => name; important(1)",
  ])("a plain file is not blamed: %s", (source) => {
    expect(composes(source)).toBe(false);
  });

  test("data, and a file that is not there, load nothing", () => {
    expect(composes('{"a": "import(name)"}', "agent.config.json")).toBe(false);
    expect(composesImports(join(folder, "missing.ts"))).toBe(false);
  });
});
