import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";

// The kernel reports CPU times in units of 1/100 s to every program, whatever its own tick is.
const TICKS_PER_SECOND = 100;
const KIB = 1024;
const MAX_PROBES = 32;
const UNKNOWN_THREADS = 8192;
// Several commands are watched at the same time and share one reading.
const COUNTS_MAX_AGE_MS = 5;
const TABLE_MAX_AGE_MS = 100;

/** One line of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in clock ticks since boot: together with the pid, a unique identity. */
  readonly started: number;
  /** CPU seconds of the process itself, and of the children it has waited for. */
  readonly cpuSeconds: number;
  readonly childCpuSeconds: number;
  readonly residentBytes: number;
}

/** Two figures of the whole machine that are cheap to read. */
export interface MachineCounts {
  /** At least the number of threads of one user. */
  readonly threads: number;
  /** Memory without a file on disk: the anonymous memory of all processes, and shared memory. */
  readonly memoryBytes: number;
  /** The part of it that is shared memory: tmpfs, memfd and System V segments, mapped or not. */
  readonly sharedBytes: number;
}

/** Reads `/proc`. Without it, no process is ever found. */
export class ProcessTable {
  #isMounted: boolean | undefined;
  #pageSize: number | undefined;
  #counts: { readonly at: number; readonly value: MachineCounts } | undefined;
  #recent: { readonly at: number; readonly entries: readonly ProcessEntry[] } | undefined;
  // Files of /proc have no size and are read by the hundred: they share one buffer, allocated on first use.
  #buffer: Buffer | undefined;

  /** Whether this system has a process table that can be read without starting a program. */
  get isAvailable(): boolean {
    this.#isMounted ??= this.#readFile("/proc/self/stat") !== undefined;
    return this.#isMounted;
  }

  /** The pids of all processes; none where there is no /proc. */
  listPids(): number[] {
    if (!this.isAvailable) return [];
    try {
      return readdirSync("/proc")
        .map(Number)
        .filter((pid) => pid > 0);
    } catch {
      return [];
    }
  }

  /**
   * The pids that may have been assigned after one of `pids`. Cheap if there are few: then they are probed individually
   * instead of reading the whole table.
   */
  youngerPids(pids: readonly number[]): number[] {
    const newest = Number(this.#readText("/proc/loadavg")?.trimEnd().split(" ").at(-1));
    const oldest = Math.min(...pids);
    // A pid above the newest one: pids have wrapped around since then, or cannot be read.
    if (!pids.every((pid) => pid <= newest)) return this.listPids();
    if (newest - oldest > MAX_PROBES) return this.listPids().filter((pid) => pid > oldest);
    return Array.from({ length: newest - oldest }, (_, index) => oldest + 1 + index).filter(exists);
  }

  /** Figures of the whole machine, at most a few milliseconds old. An estimate if they cannot be read. */
  counts(): MachineCounts {
    const now = performance.now();
    if (this.#counts === undefined || now - this.#counts.at > COUNTS_MAX_AGE_MS) {
      const threads = /\/(\d+) /.exec(this.#readText("/proc/loadavg") ?? "")?.[1];
      const memory = this.#readText("/proc/meminfo") ?? "";
      const bytes = (name: string): number =>
        Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(memory)?.[1] ?? 0) * KIB;
      const sharedBytes = bytes("Shmem");
      const value = {
        threads: Number(threads ?? UNKNOWN_THREADS),
        memoryBytes: bytes("AnonPages") + sharedBytes,
        sharedBytes,
      };
      this.#counts = { at: now, value };
    }
    return this.#counts.value;
  }

  /** All living processes. Zombies have exited and only wait to be reaped, so they are omitted. */
  read(): ProcessEntry[] {
    return this.listPids()
      .map((pid) => this.#readProcess(pid))
      .filter((entry) => entry !== undefined);
  }

  /** A table that may be a few milliseconds old, for callers that check many commands in a row. */
  readRecent(): readonly ProcessEntry[] {
    const now = performance.now();
    if (this.#recent === undefined || now - this.#recent.at > TABLE_MAX_AGE_MS) {
      this.#recent = { at: now, entries: this.read() };
      // Drop the table as soon as it is outdated.
      setTimeout(() => {
        this.#recent = undefined;
      }, TABLE_MAX_AGE_MS).unref();
    }
    return this.#recent.entries;
  }

  /**
   * Memory of a process with shared pages divided among the processes that share them, and the part of it that is
   * shared memory (`shared`): a forked worker that has touched nothing counts as almost nothing. Slower to read than
   * `residentBytes`, which counts shared pages in full.
   */
  proportionalBytes(entry: ProcessEntry): { readonly all: number; readonly shared: number } {
    const text = this.#readText(`/proc/${entry.pid}/smaps_rollup`) ?? "";
    const [all, shared] = [/^Pss:\s+(\d+) kB/m, /^Pss_Shmem:\s+(\d+) kB/m].map(
      (line) => line.exec(text)?.[1],
    );
    return { all: all ? Number(all) * KIB : entry.residentBytes, shared: Number(shared ?? 0) * KIB };
  }

  /** Which of `texts` are in the environment a process was started with. Empty if it cannot be read. */
  heldByEnvironment(pid: number, texts: readonly string[]): string[] {
    const environment = this.#readFile(`/proc/${pid}/environ`);
    return environment === undefined ? [] : texts.filter((text) => environment.includes(text));
  }

  /** Whether a process was started with `text` in its environment. False if it cannot be read. */
  environmentHolds(pid: number, text: string): boolean {
    return this.heldByEnvironment(pid, [text]).length > 0;
  }

  #readProcess(pid: number): ProcessEntry | undefined {
    const stat = this.#readText(`/proc/${pid}/stat`);
    if (stat === undefined) return undefined;
    // The name in parentheses may contain spaces and parentheses: parse only what follows the last one.
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
      residentBytes: field(21) * this.#bytesPerPage(),
    };
  }

  // Node has no API for the page size; derive it from its own memory, known in bytes and in pages.
  #bytesPerPage(): number {
    if (this.#pageSize !== undefined) return this.#pageSize;
    const pages = Number(this.#readText("/proc/self/statm")?.split(" ")[1]);
    const estimate = process.memoryUsage.rss() / pages;
    this.#pageSize = pages > 0 ? 2 ** Math.round(Math.log2(estimate)) : 4096;
    return this.#pageSize;
  }

  #readText(path: string): string | undefined {
    return this.#readFile(path)?.toString("latin1");
  }

  /** A view of the file's content, valid until the next call. */
  #readFile(path: string): Buffer | undefined {
    let fd: number | undefined;
    try {
      fd = openSync(path, "r");
      let buffer = this.#buffer ?? Buffer.allocUnsafeSlow(16 * KIB);
      let length = 0;
      for (;;) {
        const count = readSync(fd, buffer, length, buffer.length - length, null);
        length += count;
        if (length === buffer.length) buffer = Buffer.concat([buffer], length * 2);
        this.#buffer = buffer;
        if (count === 0) return buffer.subarray(0, length);
      }
    } catch {
      return undefined; // the process has exited meanwhile, or belongs to another user
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

function exists(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
