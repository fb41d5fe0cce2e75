import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { BackgroundJob, ToolCall } from "@agent/core";
import { afterEach, expect } from "vitest";
import type { RunBashResult } from "../src/command/result.js";
import type { BashOptions } from "../src/options.js";
import { ProcessTable } from "../src/processes/processTable.js";
import { runBashTool } from "../src/tools/bash.js";

const table = new ProcessTable();
type BashTool = ReturnType<typeof runBashTool>;
/** Every tool that `makeTool` created in this test. */
const tools: BashTool[] = [];
/** The start of the tag that every process of every command of this process carries. */
export const ownTag = `AGENT_RUN_BASH=${process.env.AGENT_RUN_BASH ?? ""}${process.pid}-`;

/** A tool that is disposed of after the test, if the file calls `leaveNoProcessBehind`. */
export function makeTool(options?: BashOptions): BashTool {
  const tool = runBashTool(options);
  tools.push(tool);
  return tool;
}

/** Runs a command the way the registry would, with its own tool, and returns the parsed result. */
export async function runBash(
  args: Record<string, unknown>,
  options?: BashOptions,
  signal?: AbortSignal,
): Promise<RunBashResult> {
  return runWith(makeTool(options), args, { signal: signal ?? new AbortController().signal });
}

/** The same with a given tool, and a call that may hold more than a signal. */
export async function runWith(
  tool: BashTool,
  args: Record<string, unknown>,
  call: Partial<ToolCall> = {},
): Promise<RunBashResult> {
  const { signal } = new AbortController();
  return JSON.parse(await tool.execute(args, { signal, onOutput() {}, report() {}, ...call }));
}

/** The background jobs of all tools of this test, oldest first. */
export const jobs = {
  list: (): BackgroundJob[] => tools.flatMap((tool) => tool.services.jobs.list()),
};

/**
 * Runs a command that prints something and then waits, until its timeout. A machine that is too busy to print it in
 * time gets more time: the test is about what happens after the deadline, not about how fast a shell starts.
 */
export async function runIntoTimeout(
  args: Record<string, unknown>,
  hasPrinted: (result: RunBashResult) => boolean,
): Promise<{ readonly result: RunBashResult; readonly timeout: number }> {
  for (let timeout = 500; ; timeout *= 4) {
    const result = await runBash({ ...args, timeout });
    if (hasPrinted(result) || timeout > 30_000) return { result, timeout };
  }
}

/** The pids of all living processes with `text` in their environment. A zombie has none left. */
export function processesWith(text: string): number[] {
  return table.listPids().filter((pid) => pid !== process.pid && table.environmentHolds(pid, text));
}

/** The pids of all living processes with `text` on their command line. */
export function commandsLike(text: string): number[] {
  return table.listPids().filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

/** Waits until no process carries `text`; fails with the pids if some stay. */
export async function expectNoProcessWith(text: string): Promise<void> {
  for (let tries = 0; tries < 1500 && processesWith(text).length > 0; tries++) await delay(20);
  expect(processesWith(text)).toEqual([]);
}

/** After every test: all tools are disposed of, and nothing that any command started may still be alive. */
export function leaveNoProcessBehind(): void {
  afterEach(async () => {
    for (const tool of tools.splice(0)) await tool.services.dispose();
    await expectNoProcessWith(ownTag);
  });
}
