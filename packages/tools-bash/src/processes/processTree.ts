import { delay } from "@agent/core/toolkit";
import { ControlGroup, type GroupLimits } from "./controlGroup.js";
import type { ProcessEntry, ProcessTable } from "./processTable.js";

const POLL_MS = 10;
const KILL_ROUNDS = 60;
const SYNC_KILL_ROUNDS = 8;
const MOVE_ROUNDS = 5;

/**
 * Everything a command started: its session and process group, the descendants, and processes that left both (`setsid`,
 * a double fork) but still have the command's tag in their environment.
 */
export class ProcessTree {
  readonly #known = new Map<number, number>();
  #group: ControlGroup | undefined;
  #cpuBeforeGroup: number | undefined;

  /**
   * `root` leads the session and the process group; `tag` is the text in the environment of all its children; `group`
   * is the control group that the shell joined at its start, if any.
   */
  constructor(
    readonly root: number,
    readonly tag: string,
    readonly table: ProcessTable,
    group?: ControlGroup,
  ) {
    this.#group = group;
  }

  /** The living members, including those identified only by their environment. */
  members(): ProcessEntry[] {
    return this.#among(this.table.read(), true);
  }

  /** The members in `table` that can be identified without reading environments, which is slow. */
  relatives(table: readonly ProcessEntry[]): ProcessEntry[] {
    return this.#among(table, false);
  }

  #among(table: readonly ProcessEntry[], byTag: boolean): ProcessEntry[] {
    const found = new Map<number, ProcessEntry>();
    const grouped = new Set(this.#group?.pids());
    const add = (entry: ProcessEntry): void => {
      if (entry.pid !== process.pid) found.set(entry.pid, entry);
    };
    for (const entry of table) {
      if (grouped.has(entry.pid) || this.#belongs(entry)) add(entry);
      else if (byTag && this.table.environmentHolds(entry.pid, this.tag)) add(entry);
    }
    addDescendants(table, found, add);
    // Remember pid and start time: a process stays a member after its parents exit; a new process with the same pid is
    // not a member.
    this.#known.clear();
    for (const entry of found.values()) this.#known.set(entry.pid, entry.started);
    return [...found.values()];
  }

  /**
   * CPU seconds of the whole tree; `seen` is the part found by examining processes. The first call moves the members
   * into a control group, if possible: from then on short-lived processes count as well. Not at the start, since moving
   * a process costs more than a short command.
   */
  cpuSeconds(limits: GroupLimits, seen: number): number {
    if (this.#cpuBeforeGroup === undefined) {
      this.#group ??= ControlGroup.create(limits);
      const isInGroup = (this.#group?.pids() ?? []).length > 0;
      this.#cpuBeforeGroup = isInGroup ? 0 : seen;
      this.#joinGroup();
    }
    return Math.max(seen, this.#cpuBeforeGroup + (this.#group?.cpuSeconds() ?? 0));
  }

  /** Moves all members into the group, until no new one has come meanwhile. */
  #joinGroup(): void {
    for (let rounds = 0, moved = -1; rounds < MOVE_ROUNDS; rounds++) {
      const inside = new Set(this.#group?.pids());
      const pids = this.members().map(({ pid }) => pid);
      if (pids.length === moved) return;
      this.#group?.add(pids.filter((pid) => !inside.has(pid)));
      moved = pids.length;
    }
  }

  /** Whether the kernel killed the tree because its memory was exhausted. */
  ranOutOfMemory(): boolean {
    return this.#group?.ranOutOfMemory() ?? false;
  }

  /** Releases the system resources of the tree. None of its processes may be running. */
  dispose(): void {
    this.#group?.remove();
  }

  /** The pids of the living members; without a process table, the process group. */
  pids(): number[] {
    if (!this.table.isAvailable) return this.groupLives() ? [this.root] : [];
    return this.members().map((entry) => entry.pid);
  }

  isEmpty(): boolean {
    return this.pids().length === 0;
  }

  /** Sends a signal to every member. The group gets it in one step, so nothing in it can fork away. */
  signal(signal: NodeJS.Signals): void {
    if (signal === "SIGKILL") this.#group?.kill();
    send(-this.root, signal);
    for (const entry of this.members()) {
      if (entry.group !== this.root) send(entry.pid, signal);
    }
  }

  /** Pauses the process group, or resumes it, as a whole. */
  pause(): void {
    send(-this.root, "SIGSTOP");
  }

  resume(): void {
    send(-this.root, "SIGCONT");
  }

  /** Sends SIGTERM, waits `graceMs`, then kills until nothing is left. Resolves to whether nothing is left. */
  async end(graceMs: number): Promise<boolean> {
    if (graceMs > 0) {
      this.signal("SIGTERM");
      const deadline = performance.now() + graceMs;
      while (performance.now() < deadline) {
        if (this.isEmpty()) return true;
        await delay(POLL_MS);
      }
    }
    for (let round = 0; round < KILL_ROUNDS; round++) {
      this.signal("SIGKILL");
      await delay(POLL_MS);
      if (this.isEmpty()) return true;
    }
    return false;
  }

  /** Kills without waiting, for the moment when the agent itself exits. */
  kill(): void {
    for (let round = 0; round < SYNC_KILL_ROUNDS; round++) {
      this.signal("SIGKILL");
      if (this.isEmpty()) return;
    }
  }

  #belongs(entry: ProcessEntry): boolean {
    return (
      entry.group === this.root ||
      entry.session === this.root ||
      entry.pid === this.root ||
      this.#known.get(entry.pid) === entry.started
    );
  }

  /** Whether the process group has a living member, or a zombie that its parent has not reaped yet. */
  groupLives(): boolean {
    return send(-this.root, 0);
  }
}

function addDescendants(
  table: readonly ProcessEntry[],
  found: Map<number, ProcessEntry>,
  add: (entry: ProcessEntry) => void,
): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const entry of table) {
      if (!found.has(entry.pid) && found.has(entry.parent)) add(entry);
    }
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // it has exited, or runs as another user and cannot be signalled
  }
}
