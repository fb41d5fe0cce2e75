import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { installed, isInstalled, why } from "./suites.js";

const AGENT = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));
const DOCUMENTATION = new URL("../../docs/mcp-and-editors.md", import.meta.url);

/** A project in which npx finds the servers without downloading them, and the command in it. */
function project() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "agent-mcp-add-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "text of a");
  symlinkSync(dirname(dirname(installed("server-filesystem"))), join(cwd, "node_modules"));
  const env = { PATH: process.env.PATH, HOME: home, AGENT_LOCAL_PORTS: "" };
  const run = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [AGENT, ...args], { cwd, env })).stdout;
  return { cwd, run };
}

describe.skipIf(!isInstalled)(`a server of others, from what its documentation says${why}`, () => {
  test("adds it with the command of our documentation, lists, checks, uses and removes it", async () => {
    const { cwd, run } = project();
    const [, words = ""] = /^ *agent (mcp add npx .*)$/m.exec(readFileSync(DOCUMENTATION, "utf8")) ?? [];
    const [mcp = "", add = "", ...pasted] = words.split(" ");
    const added = JSON.parse(await run(mcp, add, "--yes", "--json", "--enable", "read_text_file", ...pasted));
    expect(added.servers).toMatchObject([{ server: "filesystem", added: true, tools: 14 }]);
    expect(await run("mcp", "list")).toMatch(/filesystem +approved +14 .* npx -y @modelcontextprotocol/);
    expect(await run("mcp", "check")).toContain("✓ filesystem: 14 tools");
    const call = ["mcp__filesystem__read_text_file", "--args", '{"path":"a.txt"}'];
    expect((await run("tool", "run", ...call)).trim()).toBe("text of a");
    expect(await run("mcp", "remove", "filesystem")).toContain("filesystem is removed");
    expect(await run("mcp", "list")).toContain("No MCP servers in the config");
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });
});
