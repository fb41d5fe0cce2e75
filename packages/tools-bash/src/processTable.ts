import { readdirSync, readFileSync, statSync } from "node:fs";

// The kernel gives CPU times in units of 1/100 s to every program, whatever its own tick is.
const TICKS_PER_SECOND = 100;
const KIB = 1024;
const MAX_PROBES = 32;
const UNKNOWN_THREADS = 8192;

/** One line of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in clock ticks since boot: with the pid, an identity that is never used twice. */
  readonly started: number;
  /** CPU seconds of the process itself, and of the children it has waited for. */
  readonly cpuSeconds: number;
  readonly childCpuSeconds: number;
  readonly residentBytes: number;
}

/** Whether this system has a process table that can be read without starting a program. */
export function hasProcessTable(): boolean {
  return process.platform === "linux";
}

/** The pids of all processes; none where there is no /proc. */
export function listPids(): number[] {
  if (!hasProcessTable()) return [];
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/**
 * The pids that may have been given out after `pid`. Cheap when few were: then they are probed one by one
 * instead of reading the whole table.
 */
export function youngerPids(pid: number): number[] {
  const newest = Number(readText("/proc/loadavg")?.trimEnd().split(" ").at(-1));
  const count = newest - pid;
  if (!(count >= 0 && count <= MAX_PROBES)) return listPids().filter((one) => one > pid || one <= newest);
  return Array.from({ length: count }, (_, index) => pid + 1 + index).filter(exists);
}

/** The number of threads of the whole machine: never less than one user has. A guess where it cannot be read. */
export function runningThreads(): number {
  return Number(/\/(\d+) /.exec(readText("/proc/loadavg") ?? "")?.[1] ?? UNKNOWN_THREADS);
}

function exists(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}

/** All living processes. A zombie has ended: it only waits to be collected, so it is left out. */
export function readProcesses(): ProcessEntry[] {
  return listPids()
    .map(readProcess)
    .filter((entry) => entry !== undefined);
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may itself hold spaces and parentheses: what follows the last one is safe.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return undefined;
  const field = (index: number): number => Number(fields[index]);
  return {
    pid,
    parent: field(1),
    group: field(2),
    session: field(3),
    cpuSeconds: (field(11) + field(12)) / TICKS_PER_SECOND,
    childCpuSeconds: (field(13) + field(14)) / TICKS_PER_SECOND,
    started: field(19),
    residentBytes: field(21) * pageSize(),
  };
}

/**
 * Memory of a process with shared pages divided among those who share them: a forked worker that has
 * touched nothing counts as almost nothing. Slower to read than `residentBytes`, which counts them in full.
 */
export function proportionalBytes(entry: ProcessEntry): number {
  const text = readText(`/proc/${entry.pid}/smaps_rollup`);
  const kib = text && /^Pss:\s+(\d+) kB/m.exec(text)?.[1];
  return kib ? Number(kib) * KIB : entry.residentBytes;
}

/** Whether a process was started with `text` in its environment. False for what cannot be read. */
export function environmentHolds(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false;
  }
}

let knownPageSize: number | undefined;

// Node has no call for the page size; its own memory, given once in bytes and once in pages, tells it.
function pageSize(): number {
  if (knownPageSize !== undefined) return knownPageSize;
  const pages = Number(readText("/proc/self/statm")?.split(" ")[1]);
  const estimate = process.memoryUsage.rss() / pages;
  knownPageSize = pages > 0 ? 2 ** Math.round(Math.log2(estimate)) : 4096;
  return knownPageSize;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // it ended meanwhile, or belongs to someone else
  }
}
