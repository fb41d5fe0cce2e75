import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { externalDirectory } from "../external.mjs";

const BIN = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));
const installed = join(externalDirectory(new URL("package.json", import.meta.url)), "node_modules");

// The whole suite runs on each version every night; here is what a user does first.
test.each(["node-22", "node-24"])("runs the command on %s", (name) => {
  const node = join(installed, name, "bin", "node");
  if (process.platform !== "linux" || process.arch !== "x64" || !existsSync(node)) {
    process.stdout.write(
      `Skipped: ${name} is not installed. Install it with: node test/platforms/install.mjs\n`,
    );
    return;
  }
  const home = mkdtempSync(join(tmpdir(), "agent-platform-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(join(project, "a.txt"), "hello\n");
  const agent = (...args: string[]): string =>
    execFileSync(node, [BIN, ...args], {
      cwd: project,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: home, AGENT_LOCAL_PORTS: "" },
    });
  expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(
    new RegExp(`^v${name.slice(5)}\\.`),
  );
  expect(agent("read a.txt")).toContain("hello");
  expect(agent("tool", "run", "search_text", "--query", "hel", "--paths", ".")).toContain("a.txt");
  const id = agent("runs", "start", "read a.txt").trim();
  agent("runs", "work", "--drain");
  expect(agent("runs", "follow", id)).toContain("hello");
  // Compiled code is stored for the next start, where only the user can change it.
  expect(readdirSync(join(home, ".local/state/agent/compiled-by-node"))).not.toEqual([]);
});
