import { totalmem } from "node:os";
import { basename } from "node:path";

const MIB = 1024 * 1024;

/** The `limits` block of the options. `false` turns a limit off; the wall clock cannot be turned off. */
export interface LimitOptions {
  /** The longest a command may take, whatever `timeout` it asks for. Default one hour. */
  readonly timeoutMs?: number;
  /** CPU seconds of the command and all its children. Default 3600. */
  readonly cpuSeconds?: number | false;
  /** Memory of the command and all its children. Default three quarters of the machine's, at least 2048. */
  readonly memoryMb?: number | false;
  /** Processes alive at the same time. Default 1024. */
  readonly processes?: number | false;
  /** The largest file a command may write. Default 8192. */
  readonly fileMb?: number | false;
}

/**
 * A process can fill this much before the tree is first looked at. With a smaller limit a command starts in a control
 * group that the kernel holds to it, where there can be one: that takes some milliseconds, so other commands get one later.
 */
export const SMALL_LIMIT_MB = 2048;

/** The limits in force; `Infinity` where one is off. */
export type Limits = { readonly [Name in keyof LimitOptions]-?: number };
export type LimitName = Exclude<keyof Limits, "timeoutMs">;

export function resolveLimits(options: LimitOptions = {}): Limits {
  const number = (value: number | false | undefined, fallback: number): number =>
    value === false ? Number.POSITIVE_INFINITY : (value ?? fallback);
  return {
    timeoutMs: options.timeoutMs ?? 60 * 60 * 1000,
    cpuSeconds: number(options.cpuSeconds, 3600),
    memoryMb: number(options.memoryMb, Math.max(2048, Math.floor((totalmem() / MIB) * 0.75))),
    processes: number(options.processes, 1024),
    fileMb: number(options.fileMb, 8192),
  };
}

// Shells whose `ulimit` and grouping are known; another one starts without a prelude (see `diagnose`).
const SHELLS_WITH_ULIMIT = new Set(["sh", "dash", "ash", "bash", "ksh", "mksh", "zsh"]);

export function shellHasUlimit(shell: string): boolean {
  return SHELLS_WITH_ULIMIT.has(basename(shell));
}

/**
 * The kernel's limits for a single process. They limit data, not address space: node and WebAssembly reserve far more
 * than they use. More than the limit, because stacks of threads and memory that was asked for and never touched count
 * here; the rest is for the control group and the watch.
 */
export function dataLimitMb(limits: Limits): number {
  return Math.ceil(limits.memoryMb * 1.25 + 192);
}

/**
 * Shell text that sets the kernel's own limits and goes in front of the command on the same line, so that
 * line numbers in messages stay true. These limits are per process. `threads` is the number of threads that the user
 * has already.
 */
export function limitPrelude(limits: Limits, shell: string, threads: number): string {
  if (!shellHasUlimit(shell)) return "";
  const steps: string[] = [];
  if (Number.isFinite(limits.cpuSeconds)) {
    // Set the soft limit below the hard one: SIGXCPU at the soft limit names the reason, SIGKILL at the hard one does not.
    const seconds = Math.ceil(limits.cpuSeconds);
    steps.push(`ulimit -S -t ${seconds}`, `ulimit -H -t ${seconds + 1}`);
  }
  if (Number.isFinite(limits.memoryMb)) {
    steps.push(`ulimit -d ${dataLimitMb(limits) * 1024}`);
  }
  if (Number.isFinite(limits.fileMb)) {
    // POSIX counts blocks of 512 bytes; bash does so only when it is called sh.
    const blocks = (limits.fileMb * MIB) / (basename(shell) === "bash" ? 1024 : 512);
    steps.push(`ulimit -f ${Math.ceil(blocks)}`);
  }
  if (Number.isFinite(limits.processes)) {
    // The kernel counts all threads of the user: those that exist already must not use up the limit.
    const count = threads + Math.ceil(limits.processes) * 4 + 1024;
    steps.push(`{ ulimit -u ${count} || ulimit -p ${count}; }`); // bash spells it -u, dash -p
  }
  return steps.length === 0 ? "" : `{ ${steps.join("; ")}; } 2>/dev/null; `;
}
