import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import type { ToolCall } from "@agent/core";
import { errorMessage, killWindowsTree, LONGEST_TIMER_MS, onAbort, withTimeout } from "@agent/core/toolkit";
import type { RunOutcome, StopReason } from "../command/outcome.js";
import { outputView, presentOutcome, summarize } from "../command/result.js";
import { spawn } from "../helpers/spawn.js";
import type { CommandHost } from "../host/commandHost.js";
import { captureOutput } from "../output/commandOutput.js";
import type { WindowsShell } from "./shells.js";

/** How long to wait for a killed shell to exit. */
const REAP_MS = 2000;

interface WindowsCommand {
  readonly shell: WindowsShell;
  readonly command: string;
  readonly parameters: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly longestMs: number;
}

/**
 * Runs a command of a call on Windows, which has neither process groups nor limits: `taskkill /T` kills a command that
 * takes too long, with everything it started. Rejects only if nothing was run.
 */
export async function runWindowsCommand(
  given: WindowsCommand,
  host: CommandHost,
  call: ToolCall | undefined,
): Promise<string> {
  const { timeoutMs, longestMs } = given;
  const outcome = await run(given, host, call);
  const allowance = { timeoutMs, longestMs };
  call?.report?.({
    ...summarize(outcome, timeoutMs),
    ...(call.wantsView && { view: outputView(outcome, allowance) }),
  });
  return presentOutcome(outcome, allowance);
}

async function run(
  given: WindowsCommand,
  host: CommandHost,
  call: ToolCall | undefined,
): Promise<RunOutcome> {
  const started = performance.now();
  const child = await start(given);
  const { pid = 0 } = child;
  let hasExited = false;
  const exited = new Promise<number>((resolve) => {
    child.once("exit", (code) => {
      hasExited = true;
      resolve(code ?? -1);
    });
  });
  const forget = host.endOnExit(() => {
    if (!hasExited) void killWindowsTree(pid, true);
  });
  const output = captureOutput(child, host.spills, call?.onOutput);
  const stop = stopRequest(pid, host, given.timeoutMs, started, call);
  call?.onProcess?.(pid);
  try {
    const first = await Promise.race([exited, stop.requested]);
    const stoppedBy = typeof first === "number" ? undefined : first;
    if (stoppedBy !== undefined) {
      await killWindowsTree(pid);
      await withTimeout(exited, REAP_MS, () => -1);
    }
    await output.drain();
    const { stdout, stderr } = output.finish();
    output.close();
    return {
      exitCode: typeof first === "number" ? first : -1,
      signal: null,
      stoppedBy,
      durationMs: Math.round(performance.now() - started),
      stdout,
      stderr,
      unkillable: hasExited ? [] : [pid],
    };
  } finally {
    stop.cancel();
    forget();
  }
}

type Shell = ChildProcessByStdio<null, Readable, Readable>;

function start({ shell, command, parameters, cwd, env }: WindowsCommand): Promise<Shell> {
  const args = shell.args(command, parameters);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void =>
      reject(new Error(`${shell.label} cannot be started: ${errorMessage(error)} Nothing was run.`));
    try {
      const child = spawn(shell.program, args, {
        ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"], windowsHide: true },
      }) as Shell;
      child.once("error", fail).once("spawn", () => resolve(child));
    } catch (error) {
      fail(error);
    }
  });
}

/** The deadline, the caller's signal and the user, whichever comes first. */
function stopRequest(
  pid: number,
  host: CommandHost,
  timeoutMs: number,
  started: number,
  call: ToolCall | undefined,
) {
  let timer: NodeJS.Timeout | undefined;
  let cancel = (): void => undefined;
  const requested = new Promise<StopReason>((resolve) => {
    const arm = (): void => {
      const left = started + timeoutMs - performance.now();
      if (left <= 0) resolve("timeout");
      else timer = setTimeout(arm, Math.min(Math.ceil(left), LONGEST_TIMER_MS));
    };
    arm();
    const withdraw = host.running.add(pid, { end: () => resolve("user") });
    if (call?.signal?.aborted) resolve("abort");
    const release = onAbort(call?.signal, () => resolve("abort"));
    cancel = () => {
      clearTimeout(timer);
      withdraw();
      release();
    };
  });
  return { requested, cancel: () => cancel() };
}
