import type { Limits } from "./limits.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";

const MIB = 1024 * 1024;
// Other programs grow, too: without a smallest margin a tree near its limit would be measured all the time.
const SMALLEST_MARGIN_THREADS = 16;
const SMALLEST_MARGIN_BYTES = 16 * MIB;

/** How much more shared memory the machine has than it had at its lowest since the command began. */
export class SharedMeter {
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
export interface TreeUse {
  readonly processes: number;
  readonly bytes: number;
}

/**
 * Rings when the whole machine has gained half of the threads or of the memory that a tree may still have: the tree may be
 * near its limit. Both are cheap figures, so that they can be compared many times a second.
 */
export class GrowthAlarm {
  readonly #table: ProcessTable;
  readonly #limits: Limits;
  #before = { threads: 0, memoryBytes: 0 };
  #margin = { threads: 0, memoryBytes: 0 };

  constructor(table: ProcessTable, limits: Limits) {
    this.#table = table;
    this.#limits = limits;
    this.reset({ processes: 0, bytes: 0 });
  }

  /** Starts again: the alarm rings at half of what remains for a tree that uses this much. */
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

/** Adds up the CPU time of a tree, also of members that ended between two looks without a parent to inherit it. */
export class CpuMeter {
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
