import { constants } from "node:os";
import { LONGEST_TIMER_MS, onAbort } from "@agent/core/toolkit";
import type { Captured } from "./capture.js";
import { delay } from "./delay.js";
import { offerEnding } from "./endings.js";
import { adoptSurvivors } from "./jobs.js";
import { type LaunchOptions, launchShell } from "./launch.js";
import { leftAnything, noteShell } from "./leftovers.js";
import { bindToAgent, guardAgainstKill, release } from "./lifetime.js";
import { dataLimitMb, type Limits } from "./limits.js";
import { captureOutput } from "./output.js";
import { ProcessTree } from "./tree.js";
import { type Exceeded, watchTree } from "./watch.js";

/** How long a command may take to end by itself after SIGTERM. */
const GRACE_MS = 1000;
/** How long to wait for the exit of a shell that has been killed. */
const REAP_MS = 500;

export interface RunOptions extends LaunchOptions {
  readonly mark: string;
  readonly timeoutMs: number;
  readonly limits: Limits;
  /** Whether what the command leaves is ended with it: a sandbox keeps no background work. */
  readonly endsWithShell?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((chunk: string) => void) | undefined;
  readonly onProcess?: ((pid: number) => void) | undefined;
}

/** How a command ended and what it printed. */
export interface RunOutcome {
  /** The shell's exit code, 128 + n for death by signal n, -1 if the command was stopped by time or the caller. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly stoppedBy: "timeout" | "abort" | "user" | Exceeded | undefined;
  /** A limit that is probably the reason for a failure, although only the words of the command say so. */
  readonly suspected?: Suspected | undefined;
  readonly durationMs: number;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly backgroundPids: readonly number[];
  readonly backgroundLog?: string | undefined;
  /** Pids that did not end, not even by SIGKILL (a process stuck in the kernel, or one of another user). */
  readonly unkillable: readonly number[];
}

/** The kernel's memory limit for one process, and the most the whole tree was seen to use, in MB. */
export interface Suspected {
  readonly limit: "memoryMb";
  readonly per_process: number;
  readonly peak_seen: number;
}

// How programs say that they were refused memory: the C library, shells, Python, C++, Go, Java, node, Rust.
const OUT_OF_MEMORY =
  /cannot allocate|out of memory|outofmemory|memory exhausted|memoryerror|bad_alloc|allocation failed|memory allocation of|enomem/i;

type Ending = { readonly code: number | null; readonly signal: NodeJS.Signals | null };
type Stop = NonNullable<RunOutcome["stoppedBy"]>;

/** Runs one command to its end, whatever that is. Rejects only if the shell cannot be started. */
export async function runCommand(options: RunOptions): Promise<RunOutcome> {
  const started = performance.now();
  const shell = await launchShell(options);
  const tree = new ProcessTree(shell.pid, options.mark);
  bindToAgent(tree);
  options.onProcess?.(shell.pid);
  const output = captureOutput(shell, options.onOutput);
  const shellIsGone = noteShell(shell.pid);
  const exited = new Promise<Ending>((resolve) => {
    shell.child.once("exit", (code, signal) => {
      shellIsGone();
      resolve({ code, signal });
    });
  });
  const stop = watchForStop(tree, options, started);
  try {
    const first = await Promise.race([exited, stop.requested]);
    const stoppedBy = "code" in Object(first) ? undefined : (first as Stop);
    if (stoppedBy !== undefined) {
      await tree.end(typeof stoppedBy === "object" ? 0 : GRACE_MS);
    }
    const ending = stoppedBy === undefined ? (first as Ending) : await Promise.race([exited, delay(REAP_MS)]);
    // The kernel is about to end it; until then it would be reported as running on.
    if (options.endsWithShell && (await leftAnything(tree))) await tree.end(0);
    await output.drain();
    const left = (await leftAnything(tree)) ? tree.pids() : [];
    const job =
      stoppedBy === undefined && (left.length > 0 || output.isOpen())
        ? adoptSurvivors({ tree, pids: left, command: options.script.text, limits: options.limits, shell })
        : undefined;
    const result = output.finish();
    if (job === undefined) output.close();
    const ranOutOfMemory = tree.ranOutOfMemory();
    // What could not be ended stays bound: the end of the agent is another chance.
    if (left.length === 0 && job === undefined) release(tree);
    return {
      ...exitOf(ending ?? { code: null, signal: "SIGKILL" }, stoppedBy),
      stoppedBy:
        stoppedBy ??
        (ranOutOfMemory ? memoryExceeded(options.limits) : exceededBySignal(ending, options.limits)),
      suspected:
        failed(ending) && stoppedBy === undefined
          ? suspect(result.stderr, options.limits, stop.peakMb())
          : undefined,
      durationMs: Math.round(performance.now() - started),
      ...result,
      backgroundPids: job?.pids ?? [],
      backgroundLog: job?.log,
      unkillable: stoppedBy === undefined ? [] : left,
    };
  } finally {
    stop.cancel();
  }
}

/** Resolves when the deadline passes, the caller aborts or a limit is exceeded; never if none happens. */
function watchForStop(tree: ProcessTree, options: RunOptions, started: number) {
  let cancel = (): void => undefined;
  let peakMb = (): number => 0;
  const requested = new Promise<Stop>((resolve) => {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const left = started + options.timeoutMs - performance.now();
      if (left <= 0) {
        // After a turn of the event loop: if the agent was busy, the command may have ended long ago.
        setImmediate(resolve, "timeout");
        return;
      }
      // Node fires a timer of more than 2^31 ms at once: wait in stages.
      timer = setTimeout(arm, Math.min(Math.ceil(left), LONGEST_TIMER_MS));
    };
    arm();
    const withdraw = offerEnding(tree.root, () => resolve("user"));
    const abort = (): void => resolve("abort");
    if (options.signal?.aborted) abort();
    const release = onAbort(options.signal, abort);
    const watch = watchTree(tree, options.limits, resolve, guardAgainstKill);
    peakMb = () => watch.peakMb;
    cancel = () => {
      clearTimeout(timer);
      withdraw();
      watch.stop();
      release();
    };
  });
  return { requested, cancel: () => cancel(), peakMb: () => peakMb() };
}

function exitOf(ending: Ending, stoppedBy: RunOutcome["stoppedBy"]) {
  const { code, signal } = ending;
  if (typeof stoppedBy === "string") return { exitCode: -1, signal };
  return { exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0), signal };
}

/** The limits the kernel enforces itself end a process with a signal of their own. */
function exceededBySignal(ending: Ending | undefined, limits: Limits): Exceeded | undefined {
  if (!ending) return undefined;
  const died = (signal: "SIGXCPU" | "SIGXFSZ"): boolean =>
    ending.signal === signal || ending.code === 128 + constants.signals[signal];
  if (died("SIGXCPU") && Number.isFinite(limits.cpuSeconds)) {
    return { limit: "cpuSeconds", allowed: limits.cpuSeconds, used: limits.cpuSeconds };
  }
  if (died("SIGXFSZ") && Number.isFinite(limits.fileMb)) {
    return { limit: "fileMb", allowed: limits.fileMb, used: limits.fileMb };
  }
  return undefined;
}

/** The kernel ended the command at its limit, so that is what it used. */
function memoryExceeded({ memoryMb }: Limits): Exceeded {
  return { limit: "memoryMb", allowed: memoryMb, used: Math.ceil(memoryMb) };
}

function failed(ending: Ending | undefined): boolean {
  return ending !== undefined && ending.code !== 0;
}

/** A process that asks the kernel for more than it may have is refused, not ended: only its own words tell. */
function suspect(stderr: Captured, limits: Limits, peakMb: number): Suspected | undefined {
  if (!Number.isFinite(limits.memoryMb) || !OUT_OF_MEMORY.test(stderr.text)) return undefined;
  return { limit: "memoryMb", per_process: dataLimitMb(limits), peak_seen: peakMb };
}
