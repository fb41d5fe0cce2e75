import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "@agent/core";
import { afterAll, describe, expect, test } from "vitest";
import { leaveNoProcessBehind, runBash, runIntoTimeout } from "../../test/processes.js";
import * as pack from "../index.js";
import { runBashTool } from "./bash.js";

leaveNoProcessBehind();
const directory = realpathSync(mkdtempSync(join(tmpdir(), "tools-bash-")));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: join(directory, "s.json") };

describe("scenarios of the specification", () => {
  test("Scenario: Execute a simple command", async () => {
    expect(await runBash({ command: "echo hello" })).toMatchObject({
      stdout: "hello\n",
      stderr: "",
      exit_code: 0,
      signal: null,
      timed_out: false,
    });
  });

  test("Scenario: Execute shell command; Scenario: Command with non-zero exit code", async () => {
    const result = await runBash({ command: "echo out; echo err >&2; exit 3" });
    expect(result).toMatchObject({ stdout: "out\n", stderr: "err\n", exit_code: 3 });
  });

  test("runs a command that begins like an option", async () => {
    expect(await runBash({ command: "--help" })).toMatchObject({ exit_code: 127 });
    expect(await runBash({ command: "+e", arguments: ["echo no"] })).toMatchObject({
      stdout: "",
      exit_code: 127,
    });
  });

  test("Scenario: Command with custom working directory", async () => {
    expect((await runBash({ command: "pwd", cwd: directory })).stdout).toBe(`${directory}\n`);
    expect((await runBash({ command: "pwd", working_directory: directory })).stdout).toBe(`${directory}\n`);
  });

  test("Scenario: Command with additional environment variables", async () => {
    process.env.TOOLS_BASH_TEST = "outer";
    const command = 'echo "$TOOLS_BASH_TEST $ADDED $PORT"';
    const result = await runBash({ command, env: { TOOLS_BASH_TEST: "inner", ADDED: "a b", PORT: 3000 } });
    expect(result.stdout).toBe("inner a b 3000\n");
    expect((await runBash({ command })).stdout).toBe("outer  \n");
  });

  test("Scenario: Command exceeds timeout", async () => {
    const command = "echo before; sleep 60; echo after";
    const { result, timeout } = await runIntoTimeout({ command }, ({ stdout }) => stdout !== "");
    expect(result).toMatchObject({ stdout: "before\n", exit_code: -1, timed_out: true });
    expect(result.stderr.trimEnd().split("\n").at(-1)).toContain(`timed out after ${timeout} ms`);
  });

  test("Scenario: run_bash is registered but disabled, and works after explicit enable", async () => {
    const registry = createToolRegistry(context, [pack]);
    expect(registry.hasTool("run_bash")).toBe(true);
    expect(registry.isToolEnabled("run_bash")).toBe(false);
    expect(await registry.execute("run_bash", { command: "echo test" })).toBe("Tool not available: run_bash");
    registry.enable("run_bash");
    expect(JSON.parse(await registry.execute("run_bash", { command: "echo test" })).stdout).toBe("test\n");
    expect(registry.getCapabilities("run_bash")).toEqual(["execute"]);
  });

  test("runs the tool without a ToolCall", async () => {
    expect(JSON.parse(await runBashTool().execute({ command: "echo hi" })).stdout).toBe("hi\n");
  });
});

describe("the outcome a display sees", () => {
  const registry = createToolRegistry(context, [pack], { enable: ["run_bash"] });
  test.each([
    ["exit 0", "ok", "exit code 0"],
    ["exit 2", "error", "exit code 2"],
    ["kill -KILL $$", "error", "exit code 137 (SIGKILL)"],
  ])("reports %s as %s", async (command, outcome, summary) => {
    expect(await registry.run("run_bash", { command })).toMatchObject({ outcome, summary });
  });

  test("names the job of a command that leaves something running", async () => {
    const own = createToolRegistry(context, [pack], { enable: ["run_bash"] });
    const result = await own.run("run_bash", { command: "sleep 30 & exit 0" });
    await own.dispose();
    expect(result).toMatchObject({ outcome: "ok", summary: "exit code 0, left running as job-1" });
  });

  test("is a failure with its message for a timeout", async () => {
    const result = await registry.run("run_bash", { command: "sleep 60", timeout: 100 });
    expect(result).toMatchObject({ outcome: "error", summary: "timed out after 100 ms" });
  });

  test("includes output while the command runs", async () => {
    const chunks: string[] = [];
    const ready = manualPromise();
    const running = registry.run(
      "run_bash",
      { command: `echo first; while ! test -e go; do sleep 0.02; done; echo second`, cwd: directory },
      {
        onOutput: (chunk) => {
          chunks.push(chunk);
          ready.resolve(undefined);
        },
      },
    );
    await ready.promise;
    expect(chunks).toEqual(["first\n"]);
    writeFileSync(join(directory, "go"), "");
    await running;
    expect(chunks.join("")).toBe("first\nsecond\n");
  });

  test("stops the command immediately on an abort", async () => {
    const controller = new AbortController();
    const running = registry.run(
      "run_bash",
      { command: "echo x; sleep 60" },
      { signal: controller.signal, onOutput: () => controller.abort() },
    );
    expect(await running).toMatchObject({ outcome: "aborted" });
  });

  test("includes what an aborted command had printed, if it is called directly", async () => {
    const controller = new AbortController();
    const call = { signal: controller.signal, onOutput: () => controller.abort(), report() {} };
    const result = JSON.parse(await runBashTool().execute({ command: "echo x; sleep 60" }, call));
    expect(result).toMatchObject({ stdout: "x\n", exit_code: -1, aborted: true, timed_out: false });
  });
});

describe("arguments", () => {
  test('are passed to the command as "$@", unchanged', async () => {
    const values = ["a b", "$(echo no)", "", "*", "-n", "é\n😀", `'"\\`];
    const result = await runBash({
      command: `for a in "$@"; do printf '<%s>' "$a"; done; printf ' %s' "$0"`,
      arguments: values,
    });
    expect(result.stdout).toBe(`${values.map((value) => `<${value}>`).join("")} sh`);
  });

  test("are passed to a command longer than the kernel's argument limit, which still runs", async () => {
    const command = `x='${"y".repeat(300_000)}'\necho "\${#x} $0 $1"`;
    expect(await runBash({ command, arguments: ["one"] })).toMatchObject({
      stdout: "300000 sh one\n",
      exit_code: 0,
    });
    await expect(runBash({ command: `${command}\nfi` })).rejects.toThrow(/Syntax error on line 3/);
  });
});

describe("bad input is refused by name, and nothing runs", () => {
  test.each([undefined, "", "  \n\t", 42, null, ["echo"], {}])("command %j", async (command) => {
    await expect(runBash({ command })).rejects.toThrow(/"command"/);
  });

  test("NUL in the command or an argument", async () => {
    await expect(runBash({ command: "echo a\0b" })).rejects.toThrow(/"command" contains a NUL/);
    await expect(runBash({ command: "echo", arguments: ["x", "a\0b"] })).rejects.toThrow(
      /arguments\[1\].*NUL/,
    );
  });

  test.each([Number.NaN, -5, "abc", 0, {}, null])("timeout %j", async (timeout) => {
    await expect(runBash({ command: "echo", timeout })).rejects.toThrow(/"timeout" must be/);
  });

  test.each([1e12, Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 31 - 1])(
    "does not fire the timeout %d early",
    async (timeout) => {
      const options = { limits: { timeoutMs: 1e13 } };
      const result = await runBash({ command: "sleep 0.1; echo done", timeout }, options);
      expect(result).toMatchObject({ stdout: "done\n", exit_code: 0 });
    },
  );

  test.each([null, {}, ["x"], "x\0y", Number.NaN, true])("env value %j", async (value) => {
    await expect(runBash({ command: "env", env: { NAME: value } })).rejects.toThrow(/"env" value of "NAME"/);
  });

  test.each([{ "": "x" }, { "A=B": "x" }, { "A\0": "x" }, [], "A=1", null])("env %j", async (env) => {
    await expect(runBash({ command: "env", env })).rejects.toThrow(/"env"/);
  });

  test("an environment of 3 MB, as one value or as many", async () => {
    await expect(runBash({ command: "true", env: { BIG: "x".repeat(3e6) } })).rejects.toThrow(
      /"env" value of "BIG" is 3000004 bytes/,
    );
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`V${i}`, "x".repeat(100_000)]));
    await expect(runBash({ command: "true", env: many })).rejects.toThrow(/are 60\d{5} bytes together/);
  });

  test("a bad working directory", async () => {
    writeFileSync(join(directory, "file"), "");
    await expect(runBash({ command: "pwd", cwd: "/no/such" })).rejects.toThrow(
      /"cwd" "\/no\/such" does not exist/,
    );
    await expect(runBash({ command: "pwd", cwd: join(directory, "file") })).rejects.toThrow(
      /is not a directory/,
    );
    await expect(runBash({ command: "pwd", cwd: "a", working_directory: "b" })).rejects.toThrow(/differ/);
  });

  test("a call that was aborted before it started", async () => {
    const aborted = AbortSignal.abort();
    const made = join(directory, "made-after-abort");
    for (const command of [`touch ${made}`, `touch ${made}\ntrue`]) {
      const running = runBash({ command }, undefined, aborted);
      await expect(running).rejects.toThrow("Aborted before the command was started. Nothing was run.");
    }
    expect(existsSync(made)).toBe(false);
  });

  test("a call that is aborted during the syntax check", async () => {
    const controller = new AbortController();
    const made = join(directory, "made-after-check");
    const running = runBash({ command: `touch ${made}\ntrue` }, undefined, controller.signal);
    controller.abort();
    await expect(running).rejects.toThrow("Nothing was run");
    expect(existsSync(made)).toBe(false);
  });

  test("a shell that cannot be executed", async () => {
    const shell = join(directory, "no-shell");
    writeFileSync(shell, "");
    await expect(runBash({ command: "echo" }, { shell })).rejects.toThrow(
      `The shell ${shell} cannot be started: EACCES. Nothing was run.`,
    );
  });

  test.each(["/bin/true", "/bin/cat"])(
    "%s, which is not a shell and would silently do nothing",
    async (shell) => {
      for (const command of ["echo x", "exit 1"]) {
        await expect(runBash({ command }, { shell })).rejects.toThrow(
          `The shell ${shell} is not a shell: it did not run "echo ready". Nothing was run.`,
        );
      }
    },
  );

  test("a shell that cannot be started", async () => {
    await expect(runBash({ command: 'echo "x"' }, { shell: "/no/such/sh" })).rejects.toThrow(
      /\/no\/such\/sh/,
    );
  });
});

function manualPromise() {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
