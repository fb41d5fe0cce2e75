import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { externalDirectory } from "../external.mjs";

const BIN = fileURLToPath(new URL("../../packages/cli/bin.js", import.meta.url));
const installed = join(externalDirectory(new URL("package.json", import.meta.url)), "node_modules");
const NODE = join(installed, "node-windows", "bin", "node.exe");
const missing = [
  ...(existsSync(NODE) ? [] : ["Node.js for Windows (node test/platforms/install.mjs)"]),
  ...(runs("wine", "--version") ? [] : ["wine"]),
  ...(runs("go", "version") ? [] : ["go"]),
];
if (missing.length > 0) {
  process.stdout.write(`Skipped: tests for Windows. Missing: ${missing.join(", ")}.\n`);
}

function runs(program: string, argument: string): boolean {
  return spawnSync(program, [argument]).status === 0;
}

/** Starts a script of Node.js with its own arguments: Wine has neither a bash nor a PowerShell. */
const STAND_IN = `package main

import (
	"os"
	"os/exec"
)

func main() {
	args := append([]string{os.Getenv("STAND_IN_SCRIPT")}, os.Args[1:]...)
	shell := exec.Command(os.Getenv("STAND_IN_NODE"), args...)
	shell.Stdin, shell.Stdout, shell.Stderr = os.Stdin, os.Stdout, os.Stderr
	shell.Run()
	os.Exit(shell.ProcessState.ExitCode())
}
`;
/** Understands "print TEXT", "exit CODE" and "hang", for either shell. */
const STAND_IN_SCRIPT = `
const args = process.argv.slice(2);
const script = args[0] === "-c" ? args[1] : Buffer.from(args.at(-1), "base64").toString("utf16le").split("\\n")[0];
const name = args[0] === "-c" ? "bash" : "powershell";
for (const [, verb, word] of script.matchAll(/\\b(print|exit|hang) ?(\\w*)/g)) {
  if (verb === "print") console.log(name + " " + word + " " + process.cwd() + " " + (process.env.HIDDEN ?? "not passed"));
  if (verb === "exit" && word !== "0") process.exit(Number(word));
  if (verb === "hang") setInterval(() => {}, 1000);
}
`;

/** An MCP server with a tool that says which arguments it was started with. */
const SERVER = `
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "argv", version: "1" } }
      : method === "tools/list"
        ? { tools: [{ name: "argv", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] }
        : { content: [{ type: "text", text: JSON.stringify(process.argv.slice(2)) }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
`;

// One after the other: they share what Wine keeps.
describe.skipIf(missing.length > 0)("on Windows, as Wine has it", () => {
  const root = missing.length > 0 ? "" : mkdtempSync(join(tmpdir(), "agent-wine-"));
  const project = join(root, "project");
  let notBegun = 0;
  const windowsPath = (path: string): string => `Z:${path.replaceAll("/", "\\")}`;
  const env = {
    ...{ PATH: process.env.PATH, HOME: root, WINEPREFIX: join(root, "prefix"), WINEDEBUG: "-all" },
    // No browser engine and no .NET: Wine would offer to install them in a window.
    ...{ WINEDLLOVERRIDES: "mscoree,mshtml=", NODE_SKIP_PLATFORM_CHECK: "1" },
    ...{ USERPROFILE: windowsPath(root), AGENT_LOCAL_PORTS: "", HIDDEN: "x" },
    // Under Wine on a busy machine, loading the packs can take longer than users of a machine of their own would wait.
    AGENT_LOAD_TIMEOUT_MS: "100000",
    // Wine shows links as directories, so that packages are looked up next to the link.
    NODE_PATH: windowsPath(fileURLToPath(new URL("../../node_modules/.pnpm/node_modules", import.meta.url))),
    ...{
      BEGUN: windowsPath(join(root, "begun")),
      NODE_OPTIONS: `--require ${windowsPath(join(root, "begun.cjs")).replaceAll("\\", "/")}`,
    },
    ...{ STAND_IN_NODE: windowsPath(NODE), STAND_IN_SCRIPT: windowsPath(join(root, "standIn.cjs")) },
  };

  interface Ended {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }

  /** Output goes to files: Node.js for Windows cannot use the pipes that Wine inherits. */
  function agent(...args: string[]): Ended {
    const begun = join(root, "begun");
    rmSync(begun, { force: true });
    const [out, err] = [join(root, "out"), join(root, "err")];
    const files = [openSync(out, "w"), openSync(err, "w")];
    const options = { cwd: project, env, timeout: 120_000, stdio: ["ignore" as const, ...files] };
    const { status } = spawnSync("wine", [NODE, windowsPath(BIN), ...args], options);
    for (const file of files) closeSync(file);
    // Now and then Wine ends a program on a busy machine before its first line has run: nothing of ours has failed then.
    if (status !== 0 && !existsSync(begun) && ++notBegun < 5) return agent(...args);
    return { code: status, stdout: readFileSync(out, "utf8"), stderr: readFileSync(err, "utf8") };
  }

  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(join(project, "a.txt"), "hello\n");
    writeFileSync(join(root, "standIn.cjs"), STAND_IN_SCRIPT);
    writeFileSync(
      join(root, "begun.cjs"),
      'require("node:fs").writeFileSync(process.env.BEGUN ?? "NUL", "");',
    );
    writeFileSync(join(root, "server.cjs"), SERVER);
    // Makes Wine's own files, and waits until it has; then its server stays, so that no program starts while it ends.
    // Not to pipes: the server would keep them open.
    const quiet = { env, timeout: 120_000, stdio: "ignore" } as const;
    spawnSync("wineboot", ["--init"], quiet);
    spawnSync("wineserver", ["-w"], quiet);
    spawnSync("wineserver", ["-p"], quiet);
  });
  afterAll(() => {
    if (root === "") return;
    spawnSync("wineserver", ["-k"], { env });
    rmSync(root, { recursive: true, force: true });
  });

  test("reads, writes and searches files", () => {
    expect(agent("tool", "run", "read_file", "--path", "a.txt")).toMatchObject({
      code: 0,
      stdout: "hello\n",
    });
    const written = agent("tool", "run", "write_file", "--path", "src\\b.txt", "--content", "one");
    expect(written).toMatchObject({ code: 0 });
    expect(readFileSync(join(project, "src", "b.txt"), "utf8")).toBe("one");
    expect(agent("tool", "run", "search_text", "--query", "hel", "--paths", ".").stdout).toContain("a.txt");
  });

  test.each(["NUL", "a.ts:stream"])("refuses to write to %s", (name) => {
    const before = readdirSync(project);
    const refused = agent("tool", "run", "write_file", "--path", name, "--content", "x");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(/is refused: .* names a (device|stream)/);
    expect(readdirSync(project)).toEqual(before);
  });

  test("answers a task, keeps the session, and runs survive", () => {
    const said = (text: string) => ({ code: 0, stdout: expect.stringContaining(text) });
    expect(agent("read a.txt")).toMatchObject(said("hello"));
    expect(agent("sessions")).toMatchObject(said("read a.txt"));
    const id = agent("runs", "start", "read a.txt").stdout.trim();
    expect(agent("runs", "work", "--drain")).toMatchObject({ code: 0 });
    expect(agent("runs", "follow", id)).toMatchObject(said("hello"));
  });

  test("names in doctor what is missing, and says so instead of running a command", () => {
    const { stdout } = agent("doctor");
    expect(stdout).toContain("There is no bash on this machine");
    expect(stdout).toContain("run_powershell can be enabled");
    expect(stdout).not.toContain("ulimit");
    const refused = agent("tool", "run", "--enable", "run_bash", "run_bash", "--command", "ls");
    expect(refused.stdout + refused.stderr).toContain("Install Git for Windows");
  });

  test("runs commands in Git Bash and PowerShell, and ends those that take too long", () => {
    const program = join(root, "shell.exe");
    writeFileSync(join(root, "shell.go"), STAND_IN);
    const built = spawnSync("go", ["build", "-o", program, join(root, "shell.go")], {
      env: { ...process.env, GO111MODULE: "off", GOOS: "windows", GOARCH: "amd64", CGO_ENABLED: "0" },
      encoding: "utf8",
    });
    expect(built).toMatchObject({ status: 0 });
    const programs = join(root, "prefix", "drive_c", "Program Files");
    for (const folder of [join("Git", "bin"), join("PowerShell", "7")])
      mkdirSync(join(programs, folder), { recursive: true });
    copyFileSync(program, join(programs, "Git", "bin", "bash.exe"));
    copyFileSync(program, join(programs, "PowerShell", "7", "pwsh.exe"));
    expect(agent("doctor").stdout).toContain("run_bash uses Git Bash");
    const packs = [["@agent/tools-bash", { hideEnv: ["Hidden"] }]];
    const config = { packs, enable: ["run_bash", "run_powershell"] };
    writeFileSync(join(project, "agent.config.json"), JSON.stringify(config));
    const read = ({ stdout, stderr }: ReturnType<typeof agent>): unknown =>
      stdout.startsWith("{") ? JSON.parse(stdout) : { stdout, stderr };
    for (const [tool, name] of [
      ["run_bash", "bash"],
      ["run_powershell", "powershell"],
    ] as const) {
      const call = (command: string, ...more: string[]) =>
        agent("tool", "run", "--trust", tool, "--command", command, ...more);
      const done = call("print one; exit 3");
      expect(read(done)).toMatchObject({
        ...{ exit_code: 3, stdout: `${name} one ${windowsPath(project)} not passed\n` },
      });
      const late = call("print begun; hang", "--timeout", "4000");
      expect(read(late)).toMatchObject({ timed_out: true, exit_code: -1 });
    }
  });

  test("starts an MCP server that is a batch file, with arguments that cmd.exe would act on", () => {
    const bin = join(root, "prefix", "drive_c", "windows", "system32");
    writeFileSync(
      join(bin, "npx.cmd"),
      `@echo off\r\nset NODE_SKIP_PLATFORM_CHECK=1\r\n"${windowsPath(NODE)}" "${windowsPath(join(root, "server.cjs"))}" %*\r\n`,
    );
    const hostile = ["-y", "a b", "x&echo pwned>pwned.txt", 'say "hi"'];
    const added = agent("mcp", "add", "--yes", "--name", "shim", "--enable", "*", "npx", ...hostile);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("shim") });
    const called = agent("tool", "run", "--trust", "mcp__shim__argv");
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining(JSON.stringify(hostile)) });
    expect(readdirSync(project)).not.toContain("pwned.txt");
  });
});
