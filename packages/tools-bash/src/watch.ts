import type { LimitName, Limits } from "./limits.js";
import { heldSharedBytes, machineSharedBytes } from "./processes/sharedMemory.js";
import {
  hasProcessTable,
  type ProcessEntry,
  proportionalBytes,
  readProcesses,
  recentProcesses,
  runningThreads,
} from "./processTable.js";
import type { ProcessTree } from "./tree.js";

const MIB = 1024 * 1024;
/** Short commands are never looked at: the kernel's own limits hold for them. */
const FIRST_LOOK_MS = 250;
const LONGEST_PAUSE_MS = 1000;
/** How often the number of threads of the machine, one cheap figure, is compared with what it was. */
const SENTRY_MS = 25;
// Looking may cost at most about this share of a core.
const PAUSE_PER_COST = 30;

/** A limit that was passed, with the figures for the report. */
export interface Exceeded {
  readonly limit: LimitName;
  readonly allowed: number;
  readonly used: number;
}

export interface Watch {
  stop(): void;
  /** The most memory the tree was seen to use, shared pages counted for each who shares them. 0 if never seen. */
  readonly peakMb: number;
}

/**
 * Looks at the whole tree from time to time. Calls `onLook` with its members each time, and `onExceeded`
 * at most once. Where there is no process table it never calls either.
 */
export function watchTree(
  tree: ProcessTree,
  limits: Limits,
  onExceeded: (exceeded: Exceeded) => void,
  onLook: (members: readonly ProcessEntry[]) => void = () => undefined,
): Watch {
  if (!hasProcessTable()) return { stop: () => undefined, peakMb: 0 };
  const cpu = new CpuMeter();
  const shared = new SharedMeter();
  const alarm = new GrowthAlarm(limits.processes);
  const sentry = setInterval(() => {
    if (!alarm.rings()) return;
    // A fork bomb grows faster than it can be counted: hold it still meanwhile.
    tree.pause();
    clearTimeout(timer);
    if (!look(readProcesses())) tree.resume();
  }, SENTRY_MS).unref();
  /** Returns whether a limit is exceeded: then whoever was told ends the tree. */
  const look = (table?: readonly ProcessEntry[]): boolean => {
    const started = performance.now();
    const members = tree.relatives(table ?? recentProcesses());
    onLook(members);
    if (stopped) return false; // by the one who was just shown the members
    const resident = sum(members, (entry) => entry.residentBytes);
    peak = Math.max(peak, resident);
    const seconds = cpu.add(members);
    const exceeded = measure(
      members,
      tree.cpuSeconds(limits, seconds),
      resident + shared.growth(),
      limits,
      shared,
    );
    if (exceeded) {
      clearInterval(sentry);
      onExceeded(exceeded);
      return true;
    }
    const cost = performance.now() - started;
    arm(Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_LOOK_MS, cost * PAUSE_PER_COST)));
    return false;
  };
  let stopped = false;
  let peak = 0;
  let timer: NodeJS.Timeout;
  const arm = (pauseMs: number): void => {
    timer = setTimeout(() => look(), pauseMs);
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

function measure(
  members: readonly ProcessEntry[],
  cpuSeconds: number,
  mostBytes: number,
  limits: Limits,
  shared: SharedMeter,
): Exceeded | undefined {
  if (members.length > limits.processes) {
    return { limit: "processes", allowed: limits.processes, used: members.length };
  }
  if (cpuSeconds > limits.cpuSeconds) {
    return { limit: "cpuSeconds", allowed: limits.cpuSeconds, used: Math.round(cpuSeconds * 10) / 10 };
  }
  const allowed = limits.memoryMb * MIB;
  if (mostBytes <= allowed) return undefined;
  // Pages shared by a parent and its forks were counted for each, and shared memory of the whole machine with them:
  // count exactly before judging.
  const used = exactBytes(members, shared.growth());
  return used > allowed
    ? { limit: "memoryMb", allowed: limits.memoryMb, used: Math.ceil(used / MIB) }
    : undefined;
}

function exactBytes(members: readonly ProcessEntry[], sharedGrowth: number): number {
  const bytes = members.map(proportionalBytes);
  const all = bytes.reduce((total, entry) => total + entry.all, 0);
  const mapped = bytes.reduce((total, entry) => total + entry.shared, 0);
  // What is held may be mapped as well. Together it cannot be more than the machine's shared memory has grown by.
  const held = heldSharedBytes(members.map(({ pid }) => pid));
  return all - mapped + Math.max(mapped, Math.min(mapped + held, sharedGrowth));
}

/** How much more shared memory the machine has than it had at its lowest since the command began. */
class SharedMeter {
  #lowest = machineSharedBytes();

  growth(): number {
    const now = machineSharedBytes();
    this.#lowest = Math.min(this.#lowest, now);
    return now - this.#lowest;
  }
}

/** Rings when the machine has gained more threads than a command may have processes. */
class GrowthAlarm {
  readonly #allowed: number;
  #before = runningThreads();

  constructor(allowed: number) {
    this.#allowed = allowed;
  }

  rings(): boolean {
    const now = runningThreads();
    if (now - this.#before <= this.#allowed) {
      this.#before = Math.min(this.#before, now);
      return false;
    }
    this.#before = now; // if it was someone else, the next ring needs as many again
    return true;
  }
}

/** Adds up the CPU time of a tree, also of members that ended between two looks without a parent to inherit it. */
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
    return this.#lost + sum(members, (entry) => entry.cpuSeconds + entry.childCpuSeconds);
  }
}

function sum(entries: readonly ProcessEntry[], value: (entry: ProcessEntry) => number): number {
  return entries.reduce((total, entry) => total + value(entry), 0);
}
