import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { isInside } from "@agent/core/toolkit";
import { type LimitName, type Limits, SMALL_LIMIT_MB } from "./limits.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";
import type { ProcessTree } from "./processTree.js";

const MIB = 1024 * 1024;

// Other programs grow, too: without a minimum margin a tree near its limit would be measured constantly.
const SMALLEST_MARGIN_THREADS = 16;

const SMALLEST_MARGIN_BYTES = 16 * MIB;

/** How much the machine's shared memory has grown above its lowest value since the command began. */
class SharedMeter {
  readonly #table: ProcessTable;
  #lowest: number;

  constructor(table: ProcessTable) {
    this.#table = table;
    this.#lowest = table.counts().sharedBytes;
  }

  growth(): number {
    const now = this.#table.counts().sharedBytes;
    this.#lowest = Math.min(this.#lowest, now);
    return now - this.#lowest;
  }
}

/** Resource usage of a process tree. */
interface TreeUse {
  readonly processes: number;
  readonly bytes: number;
}

/**
 * Fires when the whole machine has gained half of the threads or memory that a tree has left: the tree may be near its
 * limit. Both figures are cheap, so they can be compared many times a second.
 */
class GrowthAlarm {
  readonly #table: ProcessTable;
  readonly #limits: Limits;
  #before = { threads: 0, memoryBytes: 0 };
  #margin = { threads: 0, memoryBytes: 0 };

  constructor(table: ProcessTable, limits: Limits) {
    this.#table = table;
    this.#limits = limits;
    this.reset({ processes: 0, bytes: 0 });
  }

  /** Resets the alarm: it fires at half of what remains for a tree with this usage. */
  reset({ processes, bytes }: TreeUse): void {
    const { threads, memoryBytes } = this.#table.counts();
    this.#before = { threads, memoryBytes };
    this.#margin = {
      threads: Math.max((this.#limits.processes - processes) / 2, SMALLEST_MARGIN_THREADS),
      memoryBytes: Math.max((this.#limits.memoryMb * MIB - bytes) / 2, SMALLEST_MARGIN_BYTES),
    };
  }

  rings(): boolean {
    const { threads, memoryBytes } = this.#table.counts();
    this.#before.threads = Math.min(this.#before.threads, threads);
    this.#before.memoryBytes = Math.min(this.#before.memoryBytes, memoryBytes);
    return (
      threads - this.#before.threads > this.#margin.threads ||
      memoryBytes - this.#before.memoryBytes > this.#margin.memoryBytes
    );
  }
}

/**
 * Sums the CPU time of a tree, including members that exited between two measurements without a parent to inherit it.
 */
class CpuMeter {
  #last = new Map<number, ProcessEntry>();
  #lost = 0;

  add(members: readonly ProcessEntry[]): number {
    const now = new Map(members.map((entry) => [entry.pid, entry]));
    for (const [pid, before] of this.#last) {
      if (now.has(pid) || this.#last.has(before.parent)) continue;
      this.#lost += before.cpuSeconds + before.childCpuSeconds;
    }
    this.#last = now;
    return members.reduce((sum, entry) => sum + entry.cpuSeconds + entry.childCpuSeconds, this.#lost);
  }
}

/** A command that finishes sooner is limited only by the kernel and the alarm. */
const FIRST_LOOK_MS = 250;
const LONGEST_PAUSE_MS = 1000;
/**
 * How often the alarm is checked. A process can allocate a few MB in a millisecond, so a small limit needs more checks.
 */
const ALARM_MS = 25;
const SMALL_LIMIT_ALARM_MS = 10;
// Measuring may cost at most about this share of a core.
const PAUSE_PER_COST = 30;
// A tree near its limit is paused while it is measured. Between two measurements it runs for this many times as long,
const QUIET_PER_COST = 3;
// but never longer than a process needs to fill the limit once: measuring is slow on a busy machine.
const FILLED_MB_PER_MS = 4;

/** An exceeded limit, with the figures for the report. */
export interface Exceeded {
  readonly limit: LimitName;
  readonly allowed: number;
  readonly used: number;
}

export interface TreeWatch {
  stop(): void;
  /** The peak memory of the tree, with shared pages counted for each process that has them. 0 if never measured. */
  readonly peakMb: number;
}

/**
 * Measures the whole tree from time to time, and immediately when the machine has grown so much that the tree may be
 * near a limit. Calls `onLook` with each measurement and `onExceeded` at most once. Without a process table it calls
 * neither.
 */
export function watchTree(
  tree: ProcessTree,
  limits: Limits,
  onExceeded: (exceeded: Exceeded) => void,
  onLook: () => void = () => undefined,
): TreeWatch {
  const { table } = tree;
  if (!table.isAvailable) return { stop: () => undefined, peakMb: 0 };
  const cpu = new CpuMeter();
  const shared = new SharedMeter(table);
  const alarm = new GrowthAlarm(table, limits);
  const alarmMs = limits.memoryMb < SMALL_LIMIT_MB ? SMALL_LIMIT_ALARM_MS : ALARM_MS;
  const sentry = setInterval(() => {
    if (performance.now() < quietUntil || !alarm.rings()) return;
    // Pause the tree while it is measured: a fork bomb grows faster than it can be counted, and processes end meanwhile.
    tree.pause();
    clearTimeout(timer);
    if (!look(table.read())) tree.resume();
  }, alarmMs).unref();
  /** Returns whether a limit is exceeded: then `onExceeded` stops the tree. */
  const look = (entries: readonly ProcessEntry[]): boolean => {
    const started = performance.now();
    const members = tree.relatives(entries);
    onLook();
    if (stopped) return false; // by `onLook`
    const resident = members.reduce((sum, entry) => sum + entry.residentBytes, 0);
    peak = Math.max(peak, resident);
    const seconds = tree.cpuSeconds(limits, cpu.add(members));
    const processes = members.length;
    // Counts pages that several processes share for each of them, and shared memory of the whole machine.
    const most = resident + shared.growth();
    const bytes = most > limits.memoryMb * MIB ? exactBytes(members, table, shared.growth()) : most;
    const exceeded = findExceeded({ processes, bytes }, seconds, limits);
    if (exceeded) {
      clearInterval(sentry);
      onExceeded(exceeded);
      return true;
    }
    alarm.reset({ processes, bytes });
    const now = performance.now();
    const cost = now - started;
    quietUntil = now + Math.min(cost * QUIET_PER_COST, limits.memoryMb / FILLED_MB_PER_MS);
    arm(Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_LOOK_MS, cost * PAUSE_PER_COST)));
    return false;
  };
  let stopped = false;
  let quietUntil = 0;
  let peak = 0;
  let timer: NodeJS.Timeout;
  const arm = (pauseMs: number): void => {
    timer = setTimeout(() => look(table.readRecent()), pauseMs);
    timer.unref();
  };
  arm(FIRST_LOOK_MS);
  return {
    stop: () => {
      stopped = true;
      clearInterval(sentry);
      clearTimeout(timer);
    },
    get peakMb() {
      return Math.ceil(peak / MIB);
    },
  };
}

function findExceeded(
  { processes, bytes }: TreeUse,
  cpuSeconds: number,
  limits: Limits,
): Exceeded | undefined {
  if (processes > limits.processes) {
    return { limit: "processes", allowed: limits.processes, used: processes };
  }
  if (cpuSeconds > limits.cpuSeconds) {
    return { limit: "cpuSeconds", allowed: limits.cpuSeconds, used: Math.round(cpuSeconds * 10) / 10 };
  }
  if (bytes <= limits.memoryMb * MIB) return undefined;
  return { limit: "memoryMb", allowed: limits.memoryMb, used: Math.ceil(bytes / MIB) };
}

function exactBytes(members: readonly ProcessEntry[], table: ProcessTable, sharedGrowth: number): number {
  const bytes = members.map((entry) => table.proportionalBytes(entry));
  const all = bytes.reduce((total, entry) => total + entry.all, 0);
  const mapped = bytes.reduce((total, entry) => total + entry.shared, 0);
  // Memory that is held may be mapped as well. The sum cannot exceed the growth of the machine's shared memory.
  const held = heldSharedBytes(members.map(({ pid }) => pid));
  return all - mapped + Math.max(mapped, Math.min(mapped + held, sharedGrowth));
}

const BLOCK_BYTES = 512;

const TMPFS = 0x01021994;

/** The mount points of a sandbox's own in-memory file systems. */
const PRIVATE_PLACES = ["tmp", "run", "dev/shm"];

/**
 * Shared memory that processes hold without mapping it, which no memory figure of a process includes: open in-memory
 * files (memfd, files of a tmpfs), and the private file systems of a sandbox.
 */
function heldSharedBytes(pids: readonly number[]): number {
  const systems = new Map(pids.flatMap(privateSystems));
  const files = new Map<string, number>();
  const mounts = tmpfsMounts();
  for (const path of pids.flatMap((pid) => filesInMemory(pid, mounts))) {
    const file = quietly(() => statSync(path));
    if (file && !systems.has(file.dev)) files.set(`${file.dev}:${file.ino}`, file.blocks * BLOCK_BYTES);
  }
  return [...systems.values(), ...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** The private in-memory file systems of a sandboxed process: the device, and the bytes in use. */
function privateSystems(pid: number): [device: number, bytes: number][] {
  return PRIVATE_PLACES.flatMap((place): [number, number][] => {
    const path = `/proc/${pid}/root/${place}`;
    const device = quietly(() => statSync(path).dev);
    if (device === undefined || device === quietly(() => statSync(`/${place}`).dev)) return [];
    const system = quietly(() => statfsSync(path));
    return [[device, system?.type === TMPFS ? (system.blocks - system.bfree) * system.bsize : 0]];
  });
}

/** Open files of a process without a disk. */
function filesInMemory(pid: number, mounts: readonly string[]): string[] {
  const directory = `/proc/${pid}/fd`;
  const paths = (quietly(() => readdirSync(directory)) ?? []).map((fd) => `${directory}/${fd}`);
  return paths.filter((path) => {
    const name = quietly(() => readlinkSync(path)) ?? "";
    return name.startsWith("/memfd:") || mounts.some((mount) => isInside(mount, name));
  });
}

/** The mount points of in-memory file systems. Read from a list: checking each file could wait for a network. */
function tmpfsMounts(): string[] {
  const lines = quietly(() => readFileSync("/proc/self/mountinfo", "utf8"))?.split("\n") ?? [];
  return lines.filter((line) => line.includes(" - tmpfs ")).map((line) => line.split(" ")[4] ?? "");
}

/** A process may exit, or close a file, between two reads. */
function quietly<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
