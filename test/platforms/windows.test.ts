import { spawnSync } from "node:child_process";
import {
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
// Nightly only: now and then Wine ends a program before it has begun.
const isWanted = process.env.AGENT_TEST_WINE === "1" && existsSync(NODE);
const hasWine = isWanted && spawnSync("wine", ["--version"]).status === 0;
if (!hasWine) {
  process.stdout.write(
    "Skipped: tests for Windows. Install wine, run: node test/platforms/install.mjs, and set AGENT_TEST_WINE=1\n",
  );
}

describe.skipIf(!hasWine)("on Windows, as Wine has it", () => {
  const root = hasWine ? mkdtempSync(join(tmpdir(), "agent-wine-")) : "";
  const project = join(root, "project");
  const windowsPath = (path: string): string => `Z:${path.replaceAll("/", "\\")}`;

  /** Output goes to files: Node.js for Windows cannot use the pipes that Wine inherits. */
  function agent(...args: string[]): { code: number | null; stdout: string; stderr: string } {
    const [out, err] = [join(root, "out"), join(root, "err")];
    const { status } = spawnSync("wine", [NODE, windowsPath(BIN), ...args], {
      cwd: project,
      timeout: 120_000,
      stdio: ["ignore", openSync(out, "w"), openSync(err, "w")],
      env: {
        ...{ PATH: process.env.PATH, HOME: root, WINEPREFIX: join(root, "prefix"), WINEDEBUG: "-all" },
        ...{ USERPROFILE: windowsPath(root), AGENT_LOCAL_PORTS: "", NODE_SKIP_PLATFORM_CHECK: "1" },
      },
    });
    return { code: status, stdout: readFileSync(out, "utf8"), stderr: readFileSync(err, "utf8") };
  }

  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(join(project, "a.txt"), "hello\n");
    // Makes Wine's own files.
    expect(agent("--version")).toMatchObject({ code: 0 });
  });
  afterAll(() => {
    spawnSync("wineserver", ["-k"], { env: { PATH: process.env.PATH, WINEPREFIX: join(root, "prefix") } });
    if (root !== "") rmSync(root, { recursive: true, force: true });
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

  test.each(["NUL", "aux.txt", "a.ts:stream"])("refuses to write to %s", (name) => {
    const before = readdirSync(project);
    const refused = agent("tool", "run", "write_file", "--path", name, "--content", "x");
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(/is refused: .* names a (device|stream)/);
    expect(readdirSync(project)).toEqual(before);
  });

  test("answers a task, keeps the session, and runs survive", () => {
    expect(agent("read a.txt").stdout).toContain("hello");
    expect(agent("sessions").stdout).toContain("read a.txt");
    const id = agent("runs", "start", "read a.txt").stdout.trim();
    expect(agent("runs", "work", "--drain").code).toBe(0);
    expect(agent("runs", "follow", id)).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
  });

  test("says in doctor that there are no commands", () => {
    const { stdout } = agent("doctor");
    expect(stdout).toContain("Run agent in WSL");
    expect(stdout).not.toContain("ulimit");
  });
});
