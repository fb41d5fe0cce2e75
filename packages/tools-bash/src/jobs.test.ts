import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { leaveNoProcessBehind, processesWith, runBash } from "../test/processes.js";
import { jobs } from "./jobs.js";
import { RunBashTool } from "./tools/bash.js";

leaveNoProcessBehind();
const newest = () => jobs.list().at(-1);

describe("work in the background", () => {
  test("goes on after the call, is reported with pids and log, and can be ended", async () => {
    const command = "(i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.05; done) & echo started";
    const result = await runBash({ command, env: { TEST_MARK: "job" } });
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

    expect(await jobs.end(job?.id ?? "")).toBe(true);
    expect(processesWith("TEST_MARK=job\0")).toEqual([]);
    expect(await jobs.end(job?.id ?? "")).toBe(false);
    expect(newest()).toMatchObject({ id: job?.id, ended: "ended", pids: [] });
  });

  test("that dropped its output has no log", async () => {
    const result = await runBash({ command: "sleep 100 >/dev/null 2>&1 &" });
    expect(result.background_pids).toHaveLength(1);
    expect(result).not.toHaveProperty("background_log");
  });

  test("a daemon that left session and output behind is still reported", async () => {
    const result = await runBash({ command: "setsid sleep 100 >/dev/null 2>&1 & sleep 0.1" });
    expect(result.background_pids).toHaveLength(1);
  });

  test("of commands that run at once each is told what it left itself", async () => {
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

  test("a job that ends by itself is no longer running", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tools-bash-jobs-"));
    await runBash({ command: "while ! test -e end; do sleep 0.05; done & echo", cwd: directory });
    expect(newest()).not.toHaveProperty("ended");
    writeFileSync(join(directory, "end"), "");
    while (!newest()?.ended) await delay(20);
    rmSync(directory, { recursive: true });
  });

  test("is held to the limits", async () => {
    // Four of them: together they exceed the limit long before the kernel ends a single one for it.
    const burn = "(while :; do :; done) & ".repeat(4);
    await runBash({ command: burn }, { limits: { cpuSeconds: 3 } });
    while (!newest()?.ended) await delay(50);
    expect(newest()?.ended).toBe("CPU time limit exceeded");
  });

  test("nothing is reported for a command that leaves nothing", async () => {
    const before = jobs.list().length;
    const result = await runBash({ command: "sleep 0.05 & wait; echo done" });
    expect(result).not.toHaveProperty("background_pids");
    expect(jobs.list()).toHaveLength(before);
  });

  test("an unknown job or process cannot be ended", async () => {
    expect(await jobs.end("job-999999")).toBe(false);
    expect(await jobs.endProcess?.(1)).toBe(false);
  });
});

describe("a command that a call waits for", () => {
  test("can be ended alone: the call returns what was printed and says who ended it", async () => {
    const tool = new RunBashTool();
    const reports: unknown[] = [];
    let pid = 0;
    const call = {
      signal: new AbortController().signal,
      onProcess: (started: number) => {
        pid = started;
      },
      onOutput: () => void jobs.endProcess?.(pid),
      report: (outcome: unknown) => reports.push(outcome),
    };
    const other = runBash({ command: "sleep 0.5; echo other" });
    const command = "echo before; setsid sleep 100 & sleep 100; echo never";
    const result = JSON.parse(await tool.execute({ command, timeout: 60_000 }, call));
    expect(result).toMatchObject({ exit_code: -1, signal: "SIGTERM", timed_out: false, ended_by: "user" });
    expect(result.stdout).toBe("before\n");
    expect(result.stderr).toContain("[ended by the user;");
    expect(result).not.toHaveProperty("aborted");
    expect(reports).toEqual([{ ok: false, summary: "ended by the user" }]);
    expect(await jobs.endProcess?.(pid)).toBe(false);
    expect(await other).toMatchObject({ stdout: "other\n", exit_code: 0 });
  });
});
