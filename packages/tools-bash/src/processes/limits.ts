import { totalmem } from "node:os";
import { basename } from "node:path";

const MIB = 1024 * 1024;

/** The `limits` option. `false` turns a limit off; the wall clock cannot be turned off. */
export interface LimitOptions {
  /** The maximum duration of a command, whatever `timeout` it requests. Default one hour. */
  readonly timeoutMs?: number;
  /** CPU seconds of the command and all its children. Default 3600. */
  readonly cpuSeconds?: number | false;
  /** Memory of the command and all its children. Default three quarters of the machine's, at least 2048. */
  readonly memoryMb?: number | false;
  /** Processes alive at the same time. Default 1024. */
  readonly processes?: number | false;
  /** The maximum size of a file that a command may write. Default 8192. */
  readonly fileMb?: number | false;
}

/**
 * How much a process can allocate before the tree is first measured. With a smaller limit a command starts in a control
 * group whose limit the kernel enforces, if possible: that takes a few milliseconds, so other commands are moved into
 * one later.
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
 * than they use. Higher than the tree's limit, because thread stacks and untouched allocations count here; the control
 * group and the watch enforce the rest.
 */
export function dataLimitMb(limits: Limits): number {
  return Math.ceil(limits.memoryMb * 1.25 + 192);
}

/**
 * Shell text that sets the kernel's limits, prepended to the command on the same line, so that line numbers in messages
 * stay correct. These limits are per process. `threads` is the current number of threads of the user.
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
    // The kernel counts all threads of the user: existing ones must not use up the limit.
    const count = threads + Math.ceil(limits.processes) * 4 + 1024;
    steps.push(`{ ulimit -u ${count} || ulimit -p ${count}; }`); // bash spells it -u, dash -p
  }
  return steps.length === 0 ? "" : `{ ${steps.join("; ")}; } 2>/dev/null; `;
}
