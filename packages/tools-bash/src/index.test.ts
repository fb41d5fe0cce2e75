import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createToolRegistry } from "@agent/core";
import { describe, expect, test } from "vitest";
import { expectNoProcessWith, leaveNoProcessBehind, ownTag, processesWith } from "../test/processes.js";
import * as pack from "./index.js";

leaveNoProcessBehind();
const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };
const registryWith = (options: unknown) =>
  createToolRegistry(context, [[pack, options as pack.BashOptions]], { enable: ["run_bash"] });

test("exports exactly this public API", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "DEFAULT_HIDDEN_ENV",
    "createPolicy",
    "followsDirectory",
    "packApiVersion",
    "packName",
    "register",
    "runBashTool",
  ]);
});

describe("options", () => {
  test.each([
    [{ denny: ["rm"] }, /denny/],
    [{ deny: [] }, /deny/],
    [{ deny: "rm" }, /deny/],
    [{ deny: [42] }, /deny/],
    [{ deny: [/rm/g] }, /deny/],
    [{ deny: [{ command: "rm", mach: ["rm x"] }] }, /deny/],
    [{ deny: [{ command: "rm", match: "rm x" }] }, /deny/],
    [{ allow: null }, /allow/],
    [{ deny: ["r* x"] }, /deny\[0\] is "r\* x"/],
    [{ deny: [{ command: "rm", match: ["ls"] }] }, /does not match its own example/],
    [{ limits: { memory: 5 } }, /memory/],
    [{ limits: { memoryMb: "5" } }, /memoryMb/],
    [{ limits: { cpuSeconds: 0 } }, /cpuSeconds/],
    [{ limits: { timeoutMs: false } }, /timeoutMs/],
    [{ hideEnv: "KEY" }, /hideEnv/],
    [{ shell: "bash" }, /shell/],
    [{ sandbox: "on" }, /sandbox/],
    [{ sandbox: { network: "none" } }, /sandbox/],
    [{ sandbox: { network: { hosts: ["https://example.com"] } } }, /"https:\/\/example\.com" is not a host/],
    [{ shell: "/bin/zsh", deny: ["rm"] }, /deny and allow understand sh and bash/],
    ["rm", /options must be an object/],
  ])("cause an error when the pack registers: %j", (options, message) => {
    expect(() => registryWith(options)).toThrow(message);
  });

  test("are accepted all together", () => {
    const registry = registryWith({
      deny: ["rm", { command: "git push", match: ["git push"], notMatch: ["git pull"], reason: "no" }],
      allow: ["git"],
      limits: { timeoutMs: 1000, cpuSeconds: 1, memoryMb: false, processes: 10, fileMb: 0.5 },
      hideEnv: ["A", "B_*"],
      shell: "/bin/bash",
      sandbox: { mode: "auto", network: false, writable: ["/var/tmp"] },
    });
    expect(registry.isToolEnabled("run_bash")).toBe(true);
  });
});

describe("through the registry", () => {
  test("returns an error text with reason and rule for a refused command, and does not run it", async () => {
    const registry = registryWith({ deny: [{ command: "touch", reason: "No new files." }] });
    const text = await registry.execute("run_bash", { command: "touch /tmp/tools-bash-refused" });
    expect(text).toBe(
      'Error executing run_bash: Refused by the policy: "touch /tmp/tools-bash-refused" matches the deny rule "touch". Reason: No new files. Nothing was run.',
    );
    expect(existsSync("/tmp/tools-bash-refused")).toBe(false);
    expect(await registry.execute("run_bash", { command: "echo touch" })).toContain('"stdout":"touch\\n"');
  });

  test("names arguments that do not fit", async () => {
    const registry = registryWith({});
    for (const [args, name] of [
      [{}, "command"],
      [{ command: 42 }, "command"],
      [{ command: "x", timeout: "5" }, "timeout"],
      [{ command: "x", env: { A: null } }, "env"],
      [{ command: "x", arguments: "y" }, "arguments"],
      [{ command: "x", cmd: "y" }, "cmd"],
    ] as const) {
      expect(await registry.execute("run_bash", args)).toMatch(
        new RegExp(`^Error executing run_bash: .*${name}`),
      );
    }
  });
});

describe("an abort", () => {
  test("gives the command's own result with what it had printed, and only when nothing of it runs", async () => {
    const registry = registryWith({});
    const controller = new AbortController();
    const prepared = await registry.prepare("run_bash", {
      command: "echo before; trap '' TERM; setsid sleep 100 & sleep 100; sleep 100",
      timeout: 60_000,
    });
    if (!("run" in prepared)) throw new Error(prepared.text);
    const onOutput = () => controller.abort();
    const { outcome, text } = await prepared.run({ signal: controller.signal, onOutput });
    expect(outcome).toBe("aborted");
    expect(JSON.parse(text)).toMatchObject({ stdout: "before\n", exit_code: -1, aborted: true });
    expect(JSON.parse(text).stderr).toContain(
      "[aborted; the command and everything it started were stopped.]",
    );
    expect(processesWith(ownTag)).toEqual([]);
    await registry.dispose();
  });
});

test("stops the services of a registration with the registry", async () => {
  const registry = registryWith({});
  const text = await registry.execute("run_bash", { command: "sleep 100 >/dev/null 2>&1 &" });
  expect(registry.services.jobs.list()).toMatchObject([{ id: JSON.parse(text).background_job }]);
  expect((await registry.services.diagnose()).map(({ subject }) => subject)).toContain("sandbox");
  registry.services.terminate();
  await expectNoProcessWith(ownTag);
  await registry.execute("run_bash", { command: "sleep 100 >/dev/null 2>&1 &" });
  await registry.dispose();
  expect(processesWith(ownTag)).toEqual([]);
});

test("starts nothing on import of the built package and creation of a tool", (ctx) => {
  const entry = fileURLToPath(new URL("../dist/index.js", import.meta.url));
  if (!existsSync(entry)) return ctx.skip("the package is not built");
  const code = `
    const { runBashTool } = await import(${JSON.stringify(entry)});
    runBashTool({ deny: [{ command: "rm", match: ["rm x"] }] });
    const handles = process.getActiveResourcesInfo().filter((name) => /Process|Signal|Timeout/.test(name));
    console.log(JSON.stringify({ handles, listeners: process.listenerCount("SIGTERM") }));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual({ handles: [], listeners: 0 });
});
