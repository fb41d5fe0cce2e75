import { LONGEST_TIMER_MS, onAbort, withTimeout } from "@agent/core/toolkit";
import type { CommandHost } from "../host/commandHost.js";
import type { RunningCommands } from "../host/runningCommands.js";
import { captureOutput } from "../output/commandOutput.js";
import type { Limits } from "../processes/limits.js";
import type { ProcessTree } from "../processes/processTree.js";
import { watchTree } from "../processes/watch.js";
import { type LaunchOptions, launchShell, type ShellProcess } from "./launch.js";
import {
  exceededBySignal,
  exitOf,
  memoryExceeded,
  type RunOutcome,
  type ShellExit,
  type StopReason,
  suspectMemory,
} from "./outcome.js";

/** How long a command may take to exit after SIGTERM. */
const GRACE_MS = 1000;
/** How long to wait for a killed shell to exit. */
const REAP_MS = 500;
// How long to wait to find out whether bubblewrap, which has exited, had started the command.
const SETUP_END_MS = 5000;

export interface RunOptions extends LaunchOptions {
  readonly tag: string;
  readonly timeoutMs: number;
  readonly limits: Limits;
  /** Whether the command's background processes are killed with it: a sandbox keeps no background work. */
  readonly endsWithShell?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the command has waited for the user so far, which does not count towards its time. */
  readonly waitedMs?: (() => number) | undefined;
  readonly onOutput?: ((chunk: string) => void) | undefined;
  readonly onProcess?: ((pid: number) => void) | undefined;
}

/**
 * Runs one command until it exits or is moved to the background. Rejects only if the shell or its sandbox cannot be
 * started.
 */
export async function runCommand(options: RunOptions, host: CommandHost): Promise<RunOutcome> {
  const started = performance.now();
  const group = host.groupForStart(options.limits);
  const prelude = `${group?.joinScript ?? ""}${options.prelude}`;
  const shell = await launchShell({ ...options, prelude }, host.pipes).catch((error: unknown) => {
    group?.remove();
    throw error;
  });
  const tree = host.killOnExit(shell.pid, options.tag, group);
  const output = captureOutput(shell, host.spills, options.onOutput);
  const shellIsGone = host.survivors.noteShell(shell.pid);
  const exited = new Promise<ShellExit>((resolve) => {
    shell.child.once("exit", (code, signal) => {
      shellIsGone();
      resolve({ code, signal });
    });
  });
  const refused = new Promise<Error>((resolve) => {
    shell.entered?.catch((error: Error) => {
      tree.kill();
      resolve(error);
    });
  });
  const stop = watchForStop(tree, host.running, options, started);
  options.onProcess?.(shell.pid);
  const adopt = (pids: readonly number[], isDetached: boolean) => {
    const { script, limits } = options;
    const job = host.jobs.adopt({ tree, pids, command: script.text, limits, shell, isDetached });
    const { id: jobId, log } = job;
    return { jobId, pids, log, isDetached, onFinished: (callback: () => void) => job.onFinished(callback) };
  };
  try {
    const first = await Promise.race([exited, stop.requested, refused]);
    if (first instanceof Error || (isExit(first) && !(await hasEntered(shell, tree)))) {
      await tree.end(0);
      await output.drain();
      const { stderr } = output.finish();
      output.close();
      host.release(tree);
      throw first instanceof Error
        ? first
        : new Error(`The sandbox could not be prepared: ${stderr.text.trim()} Nothing was run.`);
    }
    if (first === "detach") {
      const background = adopt(tree.pids(), true);
      return {
        ...{ exitCode: -1, signal: null, stoppedBy: undefined, unkillable: [], background },
        durationMs: Math.round(performance.now() - started),
        ...output.finish(),
      };
    }
    const stoppedBy = isExit(first) ? undefined : first;
    if (stoppedBy !== undefined) await tree.end(typeof stoppedBy === "object" ? 0 : GRACE_MS);
    const exit = isExit(first)
      ? first
      : await withTimeout<ShellExit | undefined>(exited, REAP_MS, () => undefined);
    const hasSurvivors = () => host.survivors.hasSurvivors(tree);
    // Kill them now: the kernel is about to do so, but until then they would be reported as still running.
    if (options.endsWithShell && (await hasSurvivors())) await tree.end(0);
    await output.drain();
    const left = (await hasSurvivors()) ? tree.pids() : [];
    const goesOn = stoppedBy === undefined && (left.length > 0 || output.isOpen());
    const background = goesOn ? adopt(left, false) : undefined;
    const result = output.finish();
    if (!goesOn) output.close();
    const ranOutOfMemory = tree.ranOutOfMemory();
    // Processes that could not be killed stay registered with the host, which tries again when the agent is disposed
    // of.
    if (left.length === 0 && !goesOn) host.release(tree);
    return {
      ...exitOf(exit ?? { code: null, signal: "SIGKILL" }, stoppedBy),
      stoppedBy:
        stoppedBy ??
        (ranOutOfMemory ? memoryExceeded(options.limits) : exceededBySignal(exit, options.limits)),
      suspected:
        stoppedBy === undefined ? suspectMemory(exit, result.stderr, options.limits, stop.peakMb) : undefined,
      durationMs: Math.round(performance.now() - started),
      ...result,
      background,
      unkillable: stoppedBy === undefined ? [] : left,
    };
  } finally {
    stop.cancel();
  }
}

/** Whether an exited shell ran its command. Kills the process that a killed bubblewrap left waiting. */
async function hasEntered(
  { entered }: ShellProcess,
  tree: { end(graceMs: number): Promise<unknown> },
): Promise<boolean> {
  if (entered === undefined) return true;
  const known = entered.catch(() => false);
  const answer = await withTimeout<boolean | undefined>(known, SETUP_END_MS, () => undefined);
  if (answer === undefined) await tree.end(0);
  return answer ?? false;
}

function isExit(ending: ShellExit | StopReason | "detach"): ending is ShellExit {
  return typeof ending === "object" && "code" in ending;
}

interface StopOptions {
  readonly timeoutMs: number;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  /** How long the command has waited for the user so far, which does not count towards its time. */
  readonly waitedMs?: (() => number) | undefined;
}

/** Everything that can stop waiting for a command before its shell exits. */
interface StopWatch {
  /** Resolves when the deadline passes, the caller aborts, a limit is exceeded or a user interferes; maybe never. */
  readonly requested: Promise<StopReason | "detach">;
  /** The most memory the tree was seen to use, in MB. */
  readonly peakMb: number;
  cancel(): void;
}

function watchForStop(
  tree: ProcessTree,
  running: RunningCommands,
  { timeoutMs, limits, signal, waitedMs }: StopOptions,
  started: number,
): StopWatch {
  const { promise: requested, resolve } = withResolvers<StopReason | "detach">();
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    const left = started + timeoutMs + (waitedMs?.() ?? 0) - performance.now();
    if (left <= 0) {
      // Wait for one turn of the event loop: if the agent was busy, the command may have ended before the deadline.
      setImmediate(resolve, "timeout");
      return;
    }
    // Node fires a timer of more than 2^31 ms immediately: wait in stages.
    timer = setTimeout(arm, Math.min(Math.ceil(left), LONGEST_TIMER_MS));
  };
  arm();
  const withdraw = running.add(tree.root, { end: () => resolve("user"), detach: () => resolve("detach") });
  if (signal?.aborted) resolve("abort");
  const release = onAbort(signal, () => resolve("abort"));
  const watch = watchTree(tree, limits, resolve);
  return {
    requested,
    get peakMb() {
      return watch.peakMb;
    },
    cancel: () => {
      clearTimeout(timer);
      withdraw();
      watch.stop();
      release();
    },
  };
}

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((given) => {
    resolve = given;
  });
  return { promise, resolve };
}
