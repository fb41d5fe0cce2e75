import type { Limits } from "./limits.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";

const MIB = 1024 * 1024;

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

/**
 * Rings when the whole machine has gained more threads than a command may have processes, or more memory than it may
 * use. Two cheap figures, so that they can be compared many times a second.
 */
export class GrowthAlarm {
  readonly #table: ProcessTable;
  readonly #allowed: { readonly threads: number; readonly memoryBytes: number };
  #threads: number;
  #memoryBytes: number;

  constructor(table: ProcessTable, limits: Limits) {
    this.#table = table;
    this.#allowed = { threads: limits.processes, memoryBytes: limits.memoryMb * MIB };
    ({ threads: this.#threads, memoryBytes: this.#memoryBytes } = table.counts());
  }

  rings(): boolean {
    const { threads, memoryBytes } = this.#table.counts();
    const hasGrown =
      threads - this.#threads > this.#allowed.threads ||
      memoryBytes - this.#memoryBytes > this.#allowed.memoryBytes;
    // If another program has grown, the next ring needs as much again.
    this.#threads = hasGrown ? threads : Math.min(this.#threads, threads);
    this.#memoryBytes = hasGrown ? memoryBytes : Math.min(this.#memoryBytes, memoryBytes);
    return hasGrown;
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
