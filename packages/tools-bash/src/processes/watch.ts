import type { LimitName, Limits } from "./limits.js";
import { CpuMeter, GrowthAlarm, SharedMeter } from "./meters.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";
import type { ProcessTree } from "./processTree.js";
import { heldSharedBytes } from "./sharedMemory.js";

const MIB = 1024 * 1024;
/** A command that ends sooner is only held by the kernel's limits and the alarm. */
const FIRST_LOOK_MS = 250;
const LONGEST_PAUSE_MS = 1000;
/** How often the alarm is asked. A process can fill some MB in a millisecond, so a small limit needs more of them. */
const ALARM_MS = 25;
const SMALL_LIMIT_MB = 2048;
const SMALL_LIMIT_ALARM_MS = 10;
// Looking may cost at most about this share of a core.
const PAUSE_PER_COST = 30;

/** A limit that was passed, with the figures for the report. */
export interface Exceeded {
  readonly limit: LimitName;
  readonly allowed: number;
  readonly used: number;
}

export interface TreeWatch {
  stop(): void;
  /** The most memory the tree was seen to use, shared pages counted for each process that has them. 0 if never seen. */
  readonly peakMb: number;
}

/**
 * Looks at the whole tree from time to time, and at once when the machine has grown as much as the tree may. Calls `onLook`
 * with each look and `onExceeded` at most once. Where there is no process table it calls neither.
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
    if (!alarm.rings()) return;
    // A fork bomb grows faster than it can be counted, a process ends before it is measured: hold the tree still.
    tree.pause();
    clearTimeout(timer);
    if (!look(table.read())) tree.resume();
  }, alarmMs).unref();
  /** Returns whether a limit is exceeded: then `onExceeded` has the tree ended. */
  const look = (entries: readonly ProcessEntry[]): boolean => {
    const started = performance.now();
    const members = tree.relatives(entries);
    onLook();
    if (stopped) return false; // by `onLook`
    const resident = members.reduce((sum, entry) => sum + entry.residentBytes, 0);
    peak = Math.max(peak, resident);
    const seconds = tree.cpuSeconds(limits, cpu.add(members));
    const exceeded = measure(members, { seconds, bytes: resident + shared.growth() }, limits, table, shared);
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

/** `most` is quick to find and never too little: only if it exceeds a limit is memory counted exactly. */
function measure(
  members: readonly ProcessEntry[],
  most: { readonly seconds: number; readonly bytes: number },
  limits: Limits,
  table: ProcessTable,
  shared: SharedMeter,
): Exceeded | undefined {
  if (members.length > limits.processes) {
    return { limit: "processes", allowed: limits.processes, used: members.length };
  }
  if (most.seconds > limits.cpuSeconds) {
    return { limit: "cpuSeconds", allowed: limits.cpuSeconds, used: Math.round(most.seconds * 10) / 10 };
  }
  const allowed = limits.memoryMb * MIB;
  if (most.bytes <= allowed) return undefined;
  // Pages that a parent and its forks share were counted for each of them, and shared memory of the whole machine.
  const used = exactBytes(members, table, shared.growth());
  return used > allowed
    ? { limit: "memoryMb", allowed: limits.memoryMb, used: Math.ceil(used / MIB) }
    : undefined;
}

function exactBytes(members: readonly ProcessEntry[], table: ProcessTable, sharedGrowth: number): number {
  const bytes = members.map((entry) => table.proportionalBytes(entry));
  const all = bytes.reduce((total, entry) => total + entry.all, 0);
  const mapped = bytes.reduce((total, entry) => total + entry.shared, 0);
  // Memory that is held may be mapped as well. Together it cannot be more than the machine's shared memory has grown by.
  const held = heldSharedBytes(members.map(({ pid }) => pid));
  return all - mapped + Math.max(mapped, Math.min(mapped + held, sharedGrowth));
}
