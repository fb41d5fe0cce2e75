import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describeNow } from "@agent/test-support";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  expectNoProcessWith,
  leaveNoProcessBehind,
  makeTool,
  processesWith,
  runBash,
  runWith,
} from "../../test/processes.js";
import type { BashOptions } from "../options.js";
import { runBashTool } from "../tools/bash.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const status = await new Sandbox(resolveSandbox("auto")).status();
const home = process.cwd();
const base = realpathSync(mkdtempSync(join(tmpdir(), "tools-bash-sandbox-")));
const workspace = join(base, "workspace");
const outside = join(base, "outside");
mkdirSync(workspace);
mkdirSync(outside);
beforeEach(() => process.chdir(workspace));
afterEach(() => process.chdir(home));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const require = { sandbox: "require" } as const;

test("does not mention a sandbox in the result if none is configured", async () => {
  expect(await runBash({ command: "echo x" })).not.toHaveProperty("sandbox");
});

test("reports a call as contained only if the sandbox is required", () => {
  const describe = (options?: BashOptions) => describeNow(runBashTool(options), { command: "ls" }).contained;
  expect(describe({ sandbox: "require" })).toBe(true);
  expect(describe({ sandbox: { mode: "require", network: false } })).toBe(true);
  const others: (BashOptions | undefined)[] = [undefined, { sandbox: "auto" }, { sandbox: { mode: "off" } }];
  for (const options of others) expect(describe(options)).toBeUndefined();
});

test("refuses to run without a sandbox with require, and runs with a report with auto", async () => {
  // Commands could change bubblewrap itself here, so it is not used.
  process.chdir("/usr");
  const required = runBashTool({ sandbox: "require" }).execute({ command: "echo x" });
  await expect(required).rejects.toThrow(/sandbox is required.*(bwrap|no sandbox for).*Nothing was run/);
  const auto = await runBashTool({ sandbox: "auto" }).execute({ command: "echo x" });
  expect(JSON.parse(auto)).toMatchObject({ stdout: "x\n", sandbox: "none" });
});

describe.skipIf(status.program === undefined)(
  `in the sandbox${status.problem ? ` (skipped: ${status.problem})` : ""}`,
  () => {
    test("gives package managers private caches that are gone with the command, unless others can be written", async () => {
      mkdirSync("dependency", { recursive: true });
      writeFileSync("dependency/package.json", '{"name":"dependency","version":"1.0.0"}');
      writeFileSync("package.json", '{"name":"project","version":"1.0.0"}');
      const install =
        "npm pack ./dependency --silent && npm install ./dependency-1.0.0.tgz --no-audit --offline";
      const names = ["npm_config_cache", "YARN_CACHE_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR", "GOCACHE"];
      const touch = names.map((name) => `mkdir -p "$${name}" && touch "$${name}/file"`).join(" && ");
      const command = `${install} && ${touch} && echo all`;
      // As npm sets it for its scripts: a place in the home directory.
      vi.stubEnv("npm_config_cache", join(homedir(), ".npm"));
      onTestFinished(() => void vi.unstubAllEnvs());
      const result = await runBash({ command, timeout: 120_000 }, require);
      expect(result).toMatchObject({ sandbox: "bubblewrap", stdout: expect.stringMatching(/all\n$/) });
      expect(existsSync("node_modules/dependency/package.json")).toBe(true);
      const next = await runBash(
        { command: 'test -e "$UV_CACHE_DIR" || echo "$PIP_CACHE_DIR"', env: { PIP_CACHE_DIR: "mine" } },
        require,
      );
      expect(next.stdout).toBe("mine\n");
    });

    test("can write the workspace, and nothing else", async () => {
      const command = `echo in > file; echo out > ${outside}/file; echo out > ${homedir()}/tools-bash-test; cat file`;
      const result = await runBash({ command }, require);
      expect(result).toMatchObject({ stdout: "in\n", sandbox: "bubblewrap" });
      expect(readFileSync(join(workspace, "file"), "utf8")).toBe("in\n");
      // Whether the attempt fails or ends in the sandbox's own /tmp depends on where the home directory is.
      expect(existsSync(join(outside, "file"))).toBe(false);
      expect(existsSync(join(homedir(), "tools-bash-test"))).toBe(false);
    });

    test("can read, but not write, a cwd outside the workspace", async () => {
      // None in /tmp, of which a sandbox has its own: a clone of this repository may be there.
      const result = await runBash({ command: "ls -d bin; echo x > made", cwd: "/usr" }, require);
      expect(result.stdout).toBe("bin\n");
      expect(result.stderr).toContain("cannot create made");
    });

    test("adds directories with writable", async () => {
      const sandbox = { mode: "require", writable: [outside, "/no/such"] } as const;
      expect(await runBash({ command: `echo x > ${outside}/made && echo ok` }, { sandbox })).toMatchObject({
        stdout: "ok\n",
      });
    });

    test("hides the agent's own environment and processes", async () => {
      const result = await runBash(
        { command: `ls -d /proc/${process.pid}; ls -d /proc/[0-9]* | wc -l` },
        require,
      );
      expect(Number(result.stdout)).toBeLessThan(8);
      expect(result.stderr).toContain("No such file");
    });

    test("cuts off the network with network: false", async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as { port: number };
      const command = `${process.execPath} -e 'require("net").connect(${port}, "127.0.0.1").on("connect", () => process.exit(0)).on("error", () => process.exit(9))'`;
      expect((await runBash({ command }, require)).exit_code).toBe(0);
      const cut = await runBash({ command }, { sandbox: { mode: "require", network: false } });
      expect(cut.exit_code).toBe(9);
      server.close();
    });

    test("handles exit codes, arguments, a long command and a truncated output as outside", async () => {
      const command = `x='${"y".repeat(200_000)}'; echo "$x" "$1"; exit 7`;
      const tool = makeTool(require);
      const result = await runWith(tool, { command, arguments: ["end"] });
      expect(result.exit_code).toBe(7);
      expect(result.truncated?.stdout?.total_bytes).toBe(200_005);
      const read = { command: `tail -c 4 ${result.truncated?.stdout?.file}` };
      expect(await runWith(tool, read)).toMatchObject({ stdout: "end\n" });
      // What another agent's commands printed is not for this one.
      expect(await runBash(read, require)).toMatchObject({ stdout: "", exit_code: 1 });
    });

    test("stops what a command leaves with it and does not report it as still running", async () => {
      const command = "for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & done; setsid sleep 100 & echo hi";
      // Once would not do: it depends on who is quicker, the kernel or the look at what is left.
      for (let round = 0; round < 8; round++) {
        const result = await runBash({ command, env: { TEST_MARK: "sandbox-left" } }, require);
        expect(result).toMatchObject({ stdout: "hi\n", exit_code: 0 });
        expect(result).not.toHaveProperty("background_pids");
        expect(result).not.toHaveProperty("background_log");
      }
      expect(processesWith("TEST_MARK=sandbox-left\0")).toEqual([]);
    });

    test("does not suggest the background, which a sandbox does not have, in the timeout message", async () => {
      const tool = runBashTool(require);
      expect(tool.getSchema().function.description).toContain("Nothing runs on in the background");
      const { stderr } = await runBash({ command: "sleep 100", timeout: 300 }, require);
      expect(stderr).toMatch(
        /stopped\. If it needs more time, pass a longer "timeout", such as 1200 \(at most 3600000\)\.\]\n$/,
      );
    });

    test("reports what is missing without a working directory of the agent, also if cwd is given", async () => {
      const gone = mkdtempSync(join(base, "gone-"));
      process.chdir(gone);
      rmSync(gone, { recursive: true });
      await expect(runBash({ command: "pwd", cwd: outside }, require)).rejects.toThrow(
        /working directory no longer exists\. It is what the sandbox lets commands write to/,
      );
    });

    test("stops everything on a timeout, also a daemon that wiped its environment", async () => {
      const command = "env -i setsid sleep 97.531 & sleep 100";
      const result = await runBash({ command, timeout: 300, env: { TEST_MARK: "sandbox" } }, require);
      expect(result).toMatchObject({ exit_code: -1, timed_out: true });
      await expectNoProcessWith("TEST_MARK=sandbox\0");
      expect(processesWith("97.531")).toEqual([]);
    });
  },
);
