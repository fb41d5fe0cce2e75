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
import { hasEnded, processTag } from "@agent/core/toolkit";

const PREFIX = "agent-bash-";
const OURS = /^agent-bash-([0-9a-z]+-\d+)-/;
const MIB = 1024 * 1024;
const MICROSECONDS = 1_000_000;
const REMOVE_TRIES = 20;
const REMOVE_PAUSE_MS = 50;

/** Limits the kernel enforces for all processes of a group together. */
export interface GroupLimits {
  readonly memoryMb: number;
  readonly processes: number;
}

/**
 * A control group (cgroup v2) of one command. A process cannot leave it by a new session, a wiped environment or a dead
 * parent, and the kernel adds up the CPU time also of processes that have ended. Where the user may use the memory and
 * pids controllers, the kernel enforces those limits for the group as a whole, shared memory and tmpfs included.
 */
export class ControlGroup {
  readonly #path: string;
  #limitsMemory = false;

  private constructor(path: string) {
    this.#path = path;
  }

  /** A new group whose memory the kernel holds to the limit; `undefined` where this user can have none. */
  static createLimitingMemory(limits: GroupLimits): ControlGroup | undefined {
    const group = ControlGroup.create(limits);
    if (group === undefined || group.#limitsMemory) return group;
    group.remove();
    return undefined;
  }

  /** A new group; `undefined` where this user may make none. */
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

  /** Puts processes into the group, and with them what they start from now on. Returns whether all could be moved. */
  add(pids: readonly number[]): boolean {
    return pids.map((pid) => this.#set("cgroup.procs", pid)).every(Boolean);
  }

  /** Shell text by which a shell puts itself into the group, ending in `; `. */
  get joinScript(): string {
    return `{ echo 0 > '${join(this.#path, "cgroup.procs").replaceAll("'", "'\\''")}'; } 2>/dev/null; `;
  }

  pids(): number[] {
    return this.#get("cgroup.procs").split("\n").filter(Boolean).map(Number);
  }

  /** CPU seconds of everything that was ever in the group, since it was put there. */
  cpuSeconds(): number {
    return Number(/^usage_usec (\d+)/m.exec(this.#get("cpu.stat"))?.[1] ?? 0) / MICROSECONDS;
  }

  /** Whether the kernel ended the group because its memory was used up. */
  ranOutOfMemory(): boolean {
    return /^oom_kill [1-9]/m.test(this.#get("memory.events"));
  }

  /** Kills all processes of the group in one step, so that none can fork away. */
  kill(): void {
    this.#set("cgroup.kill", 1);
  }

  /** Removes the group as soon as the kernel is done with the processes that were in it. */
  remove(tries = REMOVE_TRIES): void {
    if (removeGroup(this.#path) || tries === 0) return;
    setTimeout(() => this.remove(tries - 1), REMOVE_PAUSE_MS).unref();
  }

  /** Returns false if this kernel or this group does not have the setting. */
  #set(name: string, value: number): boolean {
    let file: number | undefined;
    try {
      // Never created: on a file system that is no control group, the setting would become a file.
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
 * Directories in which a group may be made: next to the agent's own group, where controllers may be on, or below it,
 * where they cannot be while the agent itself is in there. A user may move processes below a directory they own.
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

/** Removes empty groups that agents which were killed left behind. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (hasEnded(OURS.exec(name)?.[1] ?? "")) removeGroup(join(parent, name));
  }
}

/** Returns whether the group is gone. One that is left is removed by an agent that starts later. */
function removeGroup(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
