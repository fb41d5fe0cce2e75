import { LONGEST_TIMER_MS, onAbort } from "@agent/core/toolkit";
import type { RunningCommands } from "../host/runningCommands.js";
import type { Limits } from "../processes/limits.js";
import type { ProcessTree } from "../processes/processTree.js";
import { watchTree } from "../processes/watch.js";
import type { StopReason } from "./outcome.js";

interface StopOptions {
  readonly timeoutMs: number;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  /** How long the command had to wait for the user so far, which does not count. */
  readonly waitedMs?: (() => number) | undefined;
}

/** Everything that can end the wait for a command before its shell exits. */
export interface StopWatch {
  /** Resolves when the deadline passes, the caller aborts, a limit is exceeded or a user interferes; maybe never. */
  readonly requested: Promise<StopReason | "detach">;
  /** The most memory the tree was seen to use, in MB. */
  readonly peakMb: number;
  cancel(): void;
}

export function watchForStop(
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
    // Node fires a timer of more than 2^31 ms at once: wait in stages.
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
