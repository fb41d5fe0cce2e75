import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import { jobs } from "../src/jobs.js";
import { instanceMark } from "../src/lifetime.js";
import type { BashOptions } from "../src/options.js";
import { environmentHolds, listPids } from "../src/processTable.js";
import type { RunBashResult } from "../src/result.js";
import { RunBashTool } from "../src/tools/bash.js";

/** Runs a command the way the registry would, and returns the parsed result. */
export async function runBash(
  args: Record<string, unknown>,
  options?: BashOptions,
  signal?: AbortSignal,
): Promise<RunBashResult> {
  const tool = new RunBashTool(options);
  const call = { signal: signal ?? new AbortController().signal, onOutput() {}, report() {} };
  return JSON.parse(await tool.execute(args, call));
}

/**
 * Runs a command that prints something and then waits, into its timeout. A machine that is too busy to print it in
 * that time gets more: what is tested is what comes after the deadline, not how fast a shell starts.
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
  return listPids().filter((pid) => pid !== process.pid && environmentHolds(pid, text));
}

/** The pids of all living processes with `text` on their command line. */
export function commandsLike(text: string): number[] {
  return listPids().filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

/** Waits until no process carries `text`; fails with the pids if some stay. */
export async function expectNoProcessWith(text: string): Promise<void> {
  for (let tries = 0; tries < 100 && processesWith(text).length > 0; tries++) await delay(20);
  expect(processesWith(text)).toEqual([]);
}

/** After every test: nothing that any command of this file started may still be alive. */
export function leaveNoProcessBehind(): void {
  afterEach(async () => {
    for (const { id } of jobs.list()) await jobs.end(id);
    await expectNoProcessWith(instanceMark);
  });
}
