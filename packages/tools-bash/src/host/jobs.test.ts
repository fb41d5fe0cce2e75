import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { warningsDuring } from "@agent/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  jobs,
  leaveNoProcessBehind,
  makeTool,
  ownTag,
  processesWith,
  runBash,
  runWith,
} from "../../test/processes.js";
import type { BashOptions } from "../options.js";
import { Sandbox } from "../sandbox/sandbox.js";
import { resolveSandbox } from "../sandbox/settings.js";

leaveNoProcessBehind();
const hasSandbox = (await new Sandbox(resolveSandbox("auto")).status()).program !== undefined;
const newest = () => jobs.list().at(-1);

describe("work in the background", () => {
  test("continues after the call, is reported with pids and log, and can be stopped", async () => {
    const command = "(i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.05; done) & echo started";
    const tool = makeTool();
    const result = await runWith(tool, { command, env: { TEST_MARK: "job" } });
    expect(result).toMatchObject({ exit_code: 0 });
    expect(result.stdout).toMatch(/^started\n|\nstarted\n/);
    expect(processesWith("TEST_MARK=job\0")).toEqual(
      expect.arrayContaining(result.background_pids?.slice(0, 1) ?? []),
    );

    const job = newest();
    expect(job).toMatchObject({ command, logFile: result.background_log });
    expect(job).not.toHaveProperty("ended");
    expect(job?.pids.length).toBeGreaterThan(0);
    while (!readFileSync(result.background_log ?? "", "utf8").includes("tick 30")) await delay(20);

    expect(result.background_job).toBe(job?.id);
    expect(await tool.services.jobs.end(job?.id ?? "")).toBe(true);
    expect(processesWith("TEST_MARK=job\0")).toEqual([]);
    expect(await tool.services.jobs.end(job?.id ?? "")).toBe(false);
    expect(newest()).toMatchObject({ id: job?.id, ended: "ended", pids: [] });
  });

  test("has no log without output", async () => {
    const result = await runBash({ command: "sleep 100 >/dev/null 2>&1 &" });
    expect(result.background_pids).toHaveLength(1);
    expect(result).not.toHaveProperty("background_log");
  });

  test("has a log also after a program that cleans up has removed the directory of outputs", async () => {
    const tool = makeTool();
    const { truncated } = await runWith(tool, { command: "head -c 60000 /dev/zero" });
    rmSync(dirname(truncated?.stdout?.file ?? ""), { recursive: true });
    const result = await runWith(tool, { command: "(echo begun; sleep 100) & sleep 0.1" });
    expect(result).toMatchObject({ exit_code: 0, background_log: expect.stringContaining("job-1.log") });
  });

  test("is still reported for a daemon that left its session and output", async () => {
    const result = await runBash({ command: "setsid sleep 100 >/dev/null 2>&1 & sleep 0.1" });
    expect(result.background_pids).toHaveLength(1);
  });

  test("is listed separately in each result of commands that run at the same time", async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        runBash({
          command: index % 3 === 0 ? "setsid sleep 100 >/dev/null 2>&1 & sleep 0.1" : "echo nothing",
        }),
      ),
    );
    const left = results.map((result) => result.background_pids?.length ?? 0);
    expect(left).toEqual(results.map((_, index) => (index % 3 === 0 ? 1 : 0)));
  });

  test("is no longer running when a job ends by itself", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tools-bash-jobs-"));
    await runBash({ command: "while ! test -e end; do sleep 0.05; done & echo", cwd: directory });
    expect(newest()).not.toHaveProperty("ended");
    writeFileSync(join(directory, "end"), "");
    while (!newest()?.ended) await delay(20);
    rmSync(directory, { recursive: true });
  });

  test("is subject to the limits", async () => {
    // Four of them: together they exceed the limit long before the kernel ends a single one for it.
    const burn = "(while :; do :; done) & ".repeat(4);
    await runBash({ command: burn }, { limits: { cpuSeconds: 3 } });
    while (!newest()?.ended) await delay(50);
    expect(newest()?.ended).toBe("CPU time limit exceeded");
  });

  test("is not reported for a command that leaves nothing", async () => {
    const before = jobs.list().length;
    const result = await runBash({ command: "sleep 0.05 & wait; echo done" });
    expect(result).not.toHaveProperty("background_pids");
    expect(jobs.list()).toHaveLength(before);
  });

  test("cannot be stopped if the job or process is unknown", async () => {
    const { jobs } = makeTool().services;
    expect(await jobs.end("job-999999")).toBe(false);
    expect(await jobs.endProcess?.(1)).toBe(false);
    expect(await jobs.detachProcess?.(1)).toBe(false);
  });
});

describe("a command that a call waits for", () => {
  test("can be stopped alone: the call returns what was printed and reports who stopped it", async () => {
    const tool = makeTool();
    const { jobs } = tool.services;
    const reports: unknown[] = [];
    let pid = 0;
    const call = {
      onProcess: (started: number) => {
        pid = started;
      },
      onOutput: () => void jobs.endProcess?.(pid),
      report: (outcome: unknown) => reports.push(outcome),
    };
    const other = runWith(tool, { command: "sleep 0.5; echo other" });
    const command = "echo before; setsid sleep 100 & sleep 100; echo never";
    const result = await runWith(tool, { command, timeout: 60_000 }, call);
    expect(result).toMatchObject({ exit_code: -1, signal: "SIGTERM", timed_out: false, ended_by: "user" });
    expect(result.stdout).toBe("before\n");
    expect(result.stderr).toContain("[stopped by the user;");
    expect(result).not.toHaveProperty("aborted");
    expect(reports).toEqual([{ ok: false, summary: "stopped by the user" }]);
    expect(await jobs.endProcess?.(pid)).toBe(false);
    expect(await other).toMatchObject({ stdout: "other\n", exit_code: 0 });
  });

  /** Runs a command that prints something, and moves it to the background as soon as it has. */
  async function detach(command: string, options?: BashOptions, cwd = directory()) {
    const tool = makeTool(options);
    const { jobs } = tool.services;
    const reports: unknown[] = [];
    let pid = 0;
    const call = {
      onProcess: (started: number) => {
        pid = started;
      },
      onOutput: () => void jobs.detachProcess?.(pid),
      report: (outcome: unknown) => reports.push(outcome),
    };
    const result = await runWith(tool, { command, timeout: 60_000, cwd }, call);
    return { tool, jobs, result, reports };
  }

  function directory(): string {
    const path = mkdtempSync(join(tmpdir(), "tools-bash-detach-"));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  test("can be moved to the background: the call returns what was printed, and the command continues", async () => {
    const { jobs, result, reports } = await detach(
      "echo before; while ! test -e go; do sleep 0.02; done; echo after; exit 3",
    );
    expect(result).toMatchObject({ stdout: "before\n", exit_code: -1, moved_to_background: true });
    expect(result.stderr).toContain(`[moved to the background by the user as ${result.background_job};`);
    expect(reports).toEqual([{ ok: true, summary: "moved to the background as job-1" }]);
    const [job] = jobs.list();
    expect(job).toMatchObject({ id: result.background_job, logFile: result.background_log });
    const cwd = readlinkSync(`/proc/${result.background_pids?.[0]}/cwd`);
    writeFileSync(join(cwd, "go"), "");
    while (jobs.list()[0]?.ended === undefined) await delay(20);
    expect(jobs.list()[0]).toMatchObject({ ended: "exit code 3", pids: [] });
    await expect.poll(() => readFileSync(result.background_log ?? "", "utf8")).toBe("after\n");
  });

  test("can be stopped like any other job after it moved to the background", async () => {
    const { jobs, result } = await detach("echo before; sleep 100");
    expect(await jobs.end(result.background_job ?? "")).toBe(true);
    await expect.poll(() => jobs.list()[0]).toMatchObject({ ended: "killed by SIGTERM" });
  });

  test.skipIf(!hasSandbox)("stays in its sandbox after it moved to the background", async () => {
    const cwd = directory();
    const command = "echo before; while ! test -e go; do sleep 0.02; done";
    // A sandbox has its own /tmp, in which the directory is not unless it is named.
    const sandbox = { mode: "require", writable: [cwd] } as const;
    const { jobs, result, tool } = await detach(command, { sandbox }, cwd);
    expect(result).toMatchObject({ stdout: "before\n", moved_to_background: true, sandbox: "bubblewrap" });
    expect(jobs.list()[0]).not.toHaveProperty("ended");
    await tool.services.dispose();
    expect(processesWith(ownTag)).toEqual([]);
  });
});

describe("two agents in one process", () => {
  test("share no jobs and no files, and stop separately", async () => {
    const [one, two] = [makeTool(), makeTool()];
    const flood = "sleep 100 & head -c 60000 /dev/zero";
    const [first, second] = [
      await runWith(one, { command: flood, env: { TEST_MARK: "first" } }),
      await runWith(two, { command: flood, env: { TEST_MARK: "second" } }),
    ];
    expect(one.services.jobs.list()).toHaveLength(1);
    expect(two.services.jobs.list()).toHaveLength(1);
    const files = [first, second].map((result) => result.truncated?.stdout?.file ?? "");
    expect(dirname(files[0] ?? "")).not.toBe(dirname(files[1] ?? ""));
    await one.services.dispose();
    expect(processesWith("TEST_MARK=first\0")).toEqual([]);
    expect(processesWith("TEST_MARK=second\0")).toHaveLength(1);
    expect(files.map((file) => existsSync(file))).toEqual([false, true]);
    expect(two.services.jobs.list()[0]).not.toHaveProperty("ended");
  });
});

describe("when a tool is disposed of", () => {
  test("lets a waiting call return, and runs nothing any more", async () => {
    const tool = makeTool();
    let disposed: Promise<void> | undefined;
    const onOutput = () => {
      disposed ??= Promise.resolve(tool.services.dispose());
    };
    const command = "echo before; trap '' TERM; setsid sleep 100 & sleep 100; sleep 100";
    const result = await runWith(tool, { command, timeout: 60_000 }, { onOutput });
    expect(result).toMatchObject({ stdout: "before\n", exit_code: -1 });
    await disposed;
    expect(processesWith(ownTag)).toEqual([]);
    await expect(tool.execute({ command: "echo x" })).rejects.toThrow("The agent has ended");
  });

  test("runs no command later, also if it had run none before", async () => {
    const tool = makeTool();
    await tool.services.dispose();
    await expect(tool.execute({ command: "echo x" })).rejects.toThrow("The agent has ended");
  });

  test("removes its directory and its handlers", async () => {
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = listeners();
    const tool = makeTool();
    const { truncated } = await runWith(tool, { command: "head -c 60000 /dev/zero" });
    await tool.services.dispose();
    expect(existsSync(dirname(dirname(truncated?.stdout?.file ?? "")))).toBe(false);
    expect(listeners()).toEqual(before);
  });
});

test("causes no warning and leaves no handler for signals with twenty tools that run commands", async () => {
  const handlers = () => ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => process.listenerCount(signal));
  const before = handlers();
  let during: number[] = [];
  const warnings = await warningsDuring(async () => {
    const all = Array.from({ length: 20 }, () => runBash({ command: "sleep 0.2" }));
    await delay(100);
    during = handlers();
    await Promise.all(all);
  });
  expect(warnings).toEqual([]);
  expect(during).toEqual(before);
});
