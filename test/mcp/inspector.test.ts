import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { installed, isInstalled, runSuite, why } from "./suites.js";

const INSPECTOR = installed("inspector", "clients", "launcher", "build", "index.js");
const AGENT = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));

/** Asks `agent mcp serve` something through the inspector, in a project with one file. */
async function inspect(...args: string[]): Promise<unknown> {
  const home = mkdtempSync(join(tmpdir(), "agent-inspector-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "text of a");
  const env = { PATH: process.env.PATH, HOME: home };
  const command = ["--cli", process.execPath, AGENT, "mcp", "serve", ...args];
  const { code, output } = await runSuite(INSPECTOR, command, { cwd, env });
  expect(code, output).toBe(0);
  return JSON.parse(output);
}

describe.skipIf(!isInstalled)(`the inspector against agent mcp serve${why}`, () => {
  test("lists the enabled tools", async () => {
    const { tools } = (await inspect("--method", "tools/list")) as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name);
    expect(names).toContain("read_file");
    expect(names).not.toContain("run_bash");
  });

  test("calls one", async () => {
    const call = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
    expect(await inspect(...call)).toMatchObject({ content: [{ type: "text", text: "text of a" }] });
  });
});
