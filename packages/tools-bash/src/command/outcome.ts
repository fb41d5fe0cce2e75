import { constants } from "node:os";
import type { Captured } from "../output/capture.js";
import { dataLimitMb, type Limits } from "../processes/limits.js";
import type { Exceeded } from "../processes/watch.js";

/** Why a command was stopped. */
export type StopReason = "timeout" | "abort" | "user" | Exceeded;

/** The exit status of a shell. */
export interface ShellExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The outcome of a command and its output. */
export interface RunOutcome {
  /**
   * The shell's exit code; 128 + n if it was killed by signal n; -1 if the command was stopped by a timeout or the
   * caller, or was moved to the background.
   */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly stoppedBy: StopReason | undefined;
  /** A limit that probably caused the failure; the only evidence is the command's own error message. */
  readonly suspected?: Suspected | undefined;
  readonly durationMs: number;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly background?: BackgroundWork | undefined;
  /** Processes that survived even SIGKILL (stuck in the kernel, or owned by another user). */
  readonly unkillable: readonly number[];
}

/** Processes that keep running after the call has returned. */
export interface BackgroundWork {
  readonly jobId: string;
  readonly pids: readonly number[];
  readonly log?: string | undefined;
  /** Whether a user moved the command itself there. */
  readonly isDetached: boolean;
  /** Calls `callback` when none of them is running. */
  onFinished(callback: () => void): void;
}

/** The kernel's memory limit for one process, and the most the whole tree was seen to use, in MB. */
export interface Suspected {
  readonly limit: "memoryMb";
  readonly per_process: number;
  readonly peak_seen: number;
}

// Error messages of programs that were refused memory: the C library, shells, Python, C++, Go, Java, node, Rust.
const OUT_OF_MEMORY =
  /cannot allocate|out of memory|outofmemory|memory exhausted|memoryerror|bad_alloc|allocation failed|memory allocation of|memory_allocation_failed|enomem/i;

const TITLES = { cpuSeconds: "CPU time", memoryMb: "memory", processes: "process", fileMb: "file size" };

/** `memory limit exceeded` */
export function exceededSummary({ limit }: Exceeded): string {
  return `${TITLES[limit]} limit exceeded`;
}

export function exitOf({ code, signal }: ShellExit, stoppedBy: StopReason | undefined) {
  if (typeof stoppedBy === "string") return { exitCode: -1, signal };
  return { exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0), signal };
}

/** The kernel kills a process at some limits with a specific signal. */
export function exceededBySignal(exit: ShellExit | undefined, limits: Limits): Exceeded | undefined {
  if (!exit) return undefined;
  const died = (signal: "SIGXCPU" | "SIGXFSZ"): boolean =>
    exit.signal === signal || exit.code === 128 + constants.signals[signal];
  if (died("SIGXCPU") && Number.isFinite(limits.cpuSeconds)) {
    return { limit: "cpuSeconds", allowed: limits.cpuSeconds, used: limits.cpuSeconds };
  }
  if (died("SIGXFSZ") && Number.isFinite(limits.fileMb)) {
    return { limit: "fileMb", allowed: limits.fileMb, used: limits.fileMb };
  }
  return undefined;
}

/** The kernel killed the command at its limit, so that is its usage. */
export function memoryExceeded({ memoryMb }: Limits): Exceeded {
  return { limit: "memoryMb", allowed: memoryMb, used: Math.ceil(memoryMb) };
}

/** The kernel refuses memory beyond the limit but does not kill the process: only its own error message shows it. */
export function suspectMemory(
  exit: ShellExit | undefined,
  { text }: Captured,
  limits: Limits,
  peakMb: number,
): Suspected | undefined {
  const failed = exit !== undefined && exit.code !== 0;
  if (!failed || !Number.isFinite(limits.memoryMb) || !OUT_OF_MEMORY.test(text)) return undefined;
  return { limit: "memoryMb", per_process: dataLimitMb(limits), peak_seen: peakMb };
}
