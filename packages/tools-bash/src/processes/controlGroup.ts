import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { hasEnded, processTag, quoteForShell } from "@agent/core/toolkit";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-([0-9a-z]+-\d+)-/;
const MIB = 1024 * 1024;
const MICROSECONDS = 1_000_000;
const REMOVE_TRIES = 20;
const REMOVE_PAUSE_MS = 50;

/** Limits that the kernel enforces for all processes of a group together. */
export interface GroupLimits {
  readonly memoryMb: number;
  readonly processes: number;
}

/**
 * A control group (cgroup v2) of one command. A process cannot leave it by a new session, a cleared environment or a
 * dead parent, and the kernel also counts the CPU time of processes that have exited. If the user may use the memory
 * and pids controllers, the kernel enforces those limits for the group as a whole, including shared memory and tmpfs.
 */
export class ControlGroup {
  readonly #path: string;
  #limitsMemory = false;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Creates a group whose memory limit the kernel enforces; `undefined` if this user cannot. */
  static createLimitingMemory(limits: GroupLimits): ControlGroup | undefined {
    const group = ControlGroup.create(limits);
    if (group === undefined || group.#limitsMemory) return group;
    group.remove();
    return undefined;
  }

  /** Creates a group; `undefined` if this user is not allowed to. */
  static create(limits: GroupLimits, parents = possibleParents()): ControlGroup | undefined {
    for (const parent of parents) {
      try {
        const path = join(parent, `${PREFIX}${processTag()}-${Math.random().toString(36).slice(2)}`);
        removeAbandoned(parent);
        mkdirSync(path);
        const group = new ControlGroup(path);
        if (Number.isFinite(limits.memoryMb)) {
          group.#limitsMemory = group.#set("memory.max", Math.ceil(limits.memoryMb) * MIB);
          group.#set("memory.swap.max", 0);
          group.#set("memory.oom.group", 1);
        }
        if (Number.isFinite(limits.processes)) group.#set("pids.max", Math.ceil(limits.processes) * 4 + 64);
        return group;
      } catch {
        // No group can be made here: try the next directory.
      }
    }
    return undefined;
  }

  /** Moves processes into the group, together with their later children. Returns whether all could be moved. */
  add(pids: readonly number[]): boolean {
    return pids.map((pid) => this.#set("cgroup.procs", pid)).every(Boolean);
  }

  /** Shell text by which a shell moves itself into the group, ending in `; `. */
  get joinScript(): string {
    return `{ echo 0 > ${quoteForShell(join(this.#path, "cgroup.procs"))}; } 2>/dev/null; `;
  }

  pids(): number[] {
    return this.#get("cgroup.procs").split("\n").filter(Boolean).map(Number);
  }

  /** CPU seconds of all processes that were ever in the group. */
  cpuSeconds(): number {
    return Number(/^usage_usec (\d+)/m.exec(this.#get("cpu.stat"))?.[1] ?? 0) / MICROSECONDS;
  }

  /** Whether the kernel killed processes of the group because its memory was exhausted. */
  ranOutOfMemory(): boolean {
    return /^oom_kill [1-9]/m.test(this.#get("memory.events"));
  }

  /** Kills all processes of the group in one step, so that none can fork away. */
  kill(): void {
    this.#set("cgroup.kill", 1);
  }

  /** Removes the group as soon as the kernel has released its processes. */
  remove(tries = REMOVE_TRIES): void {
    if (removeGroup(this.#path) || tries === 0) return;
    setTimeout(() => this.remove(tries - 1), REMOVE_PAUSE_MS).unref();
  }

  /** Writes a setting. Returns false if this kernel or this group does not have it. */
  #set(name: string, value: number): boolean {
    let file: number | undefined;
    try {
      // Never created: on a file system that is not cgroup2, the setting would become a file.
      file = openSync(join(this.#path, name), constants.O_WRONLY);
      writeSync(file, String(value));
      return true;
    } catch {
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #get(name: string): string {
    try {
      return readFileSync(join(this.#path, name), "utf8");
    } catch {
      return "";
    }
  }
}

/**
 * Directories in which a group may be created: next to the agent's own group, where controllers may be enabled, or
 * below it, where they cannot be while the agent itself is in it. A user may move processes below a directory they own.
 */
function possibleParents(): string[] {
  try {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    const mount = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ");
    const own = /^0::(\/.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
    // A path with ".." is outside this cgroup namespace, as in a container.
    if (mount?.[3] !== "/" || mount[4] === undefined || own === undefined || own.includes("..")) return [];
    const root = mount[4];
    return [...new Set([join(root, dirname(own)), join(root, own)])].filter(isWritable);
  } catch {
    return [];
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    accessSync(join(directory, "cgroup.procs"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Removes empty groups left behind by killed agents. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (hasEnded(OURS.exec(name)?.[1] ?? "")) removeGroup(join(parent, name));
  }
}

/** Returns whether the group is removed. If not, an agent that starts later removes it. */
function removeGroup(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
