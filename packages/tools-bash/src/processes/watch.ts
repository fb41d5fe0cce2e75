import { type LimitName, type Limits, SMALL_LIMIT_MB } from "./limits.js";
import { CpuMeter, GrowthAlarm, SharedMeter, type TreeUse } from "./meters.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";
import type { ProcessTree } from "./processTree.js";
import { heldSharedBytes } from "./sharedMemory.js";

const MIB = 1024 * 1024;
/** A command that ends sooner is only held by the kernel's limits and the alarm. */
const FIRST_LOOK_MS = 250;
const LONGEST_PAUSE_MS = 1000;
/** How often the alarm is asked. A process can fill some MB in a millisecond, so a small limit needs more of them. */
const ALARM_MS = 25;
const SMALL_LIMIT_ALARM_MS = 10;
// Looking may cost at most about this share of a core.
const PAUSE_PER_COST = 30;
// A tree near its limit is paused while it is measured. Between two measurements it runs for this many times as long,
const QUIET_PER_COST = 3;
// but never longer than a process needs to fill the limit once: measuring is slow on a busy machine.
const FILLED_MB_PER_MS = 4;

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
 * Looks at the whole tree from time to time, and at once when the machine has grown so much that the tree may be near a
 * limit. Calls `onLook` with each look and `onExceeded` at most once. Where there is no process table it calls neither.
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
  /** Returns whether a limit is exceeded: then `onExceeded` has the tree ended. */
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
  // Memory that is held may be mapped as well. Together it cannot be more than the machine's shared memory has grown by.
  const held = heldSharedBytes(members.map(({ pid }) => pid));
  return all - mapped + Math.max(mapped, Math.min(mapped + held, sharedGrowth));
}
