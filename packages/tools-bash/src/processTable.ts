import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";

// The kernel gives CPU times in units of 1/100 s to every program, whatever its own tick is.
const TICKS_PER_SECOND = 100;
const KIB = 1024;
const MAX_PROBES = 32;
const UNKNOWN_THREADS = 8192;
// Watches of many commands ask at the same moment: one answer will do for all.
const THREADS_MAX_AGE_MS = 20;
const TABLE_MAX_AGE_MS = 100;

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
  mounted ??= readFile("/proc/self/stat") !== undefined;
  return mounted;
}

let mounted: boolean | undefined;

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
 * The pids that may have been given out after one of `pids`. Cheap when few were: then they are probed one by
 * one instead of reading the whole table.
 */
export function youngerPids(pids: readonly number[]): number[] {
  const newest = Number(readText("/proc/loadavg")?.trimEnd().split(" ").at(-1));
  const oldest = Math.min(...pids);
  // Beyond the newest: the numbers have begun again from the start since, or cannot be read.
  if (!pids.every((pid) => pid <= newest)) return listPids();
  if (newest - oldest > MAX_PROBES) return listPids().filter((pid) => pid > oldest);
  return Array.from({ length: newest - oldest }, (_, index) => oldest + 1 + index).filter(exists);
}

/**
 * The number of threads of the whole machine a moment ago: never less than one user has. A guess where it
 * cannot be read.
 */
export function runningThreads(): number {
  const now = performance.now();
  if (now - threads.at > THREADS_MAX_AGE_MS) {
    const text = /\/(\d+) /.exec(readText("/proc/loadavg") ?? "")?.[1];
    threads = { at: now, count: Number(text ?? UNKNOWN_THREADS) };
  }
  return threads.count;
}

let threads = { at: Number.NEGATIVE_INFINITY, count: UNKNOWN_THREADS };

function exists(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}

/** All living processes. A zombie has ended: it only waits to be collected, so it is left out. */
export function readProcesses(): ProcessEntry[] {
  return listPids()
    .map(readProcess)
    .filter((entry) => entry !== undefined);
}

/** The same as it was a moment ago: for those who look at many commands one after the other. */
export function recentProcesses(): readonly ProcessEntry[] {
  const now = performance.now();
  if (now - recent.at > TABLE_MAX_AGE_MS) {
    recent = { at: now, entries: readProcesses() };
    // Not kept for longer than it is good for.
    setTimeout(() => {
      recent = NO_TABLE;
    }, TABLE_MAX_AGE_MS).unref();
  }
  return recent.entries;
}

const NO_TABLE: { readonly at: number; readonly entries: readonly ProcessEntry[] } = {
  at: Number.NEGATIVE_INFINITY,
  entries: [],
};
let recent = NO_TABLE;

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
 * Memory of a process with shared pages divided among those who share them, and the part of it that is shared memory
 * (`shared`): a forked worker that has touched nothing counts as almost nothing. Slower to read than `residentBytes`, which counts them in full.
 */
export function proportionalBytes(entry: ProcessEntry): { readonly all: number; readonly shared: number } {
  const text = readText(`/proc/${entry.pid}/smaps_rollup`) ?? "";
  const [all, shared] = [/^Pss:\s+(\d+) kB/m, /^Pss_Shmem:\s+(\d+) kB/m].map((line) => line.exec(text)?.[1]);
  return { all: all ? Number(all) * KIB : entry.residentBytes, shared: Number(shared ?? 0) * KIB };
}

/** Which of `texts` are in the environment a process was started with. None for what cannot be read. */
export function heldByEnvironment(pid: number, texts: readonly string[]): string[] {
  const environment = readFile(`/proc/${pid}/environ`);
  return environment === undefined ? [] : texts.filter((text) => environment.includes(text));
}

/** Whether a process was started with `text` in its environment. False for what cannot be read. */
export function environmentHolds(pid: number, text: string): boolean {
  return heldByEnvironment(pid, [text]).length > 0;
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
  return readFile(path)?.toString("latin1");
}

// Files of /proc have no size to be asked for, and are read by the hundred: one buffer serves for all.
let buffer = Buffer.allocUnsafeSlow(16 * KIB);

/** A view of what the file holds, good until the next call. */
function readFile(path: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    let length = 0;
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0) return buffer.subarray(0, length);
      if (length === buffer.length) buffer = Buffer.concat([buffer], length * 2);
    }
  } catch {
    return undefined; // it ended meanwhile, or belongs to someone else
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
