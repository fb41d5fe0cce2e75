import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { isInside } from "@agent/core/toolkit";

const BLOCK_BYTES = 512;
const TMPFS = 0x01021994;
/** Where a sandbox has its own file systems that are kept in memory. */
const PRIVATE_PLACES = ["tmp", "run", "dev/shm"];

/**
 * Shared memory that processes hold without having it mapped, which no memory figure of a process shows: open files that
 * are in memory (memfd, files of a tmpfs), and the private file systems of a sandbox.
 */
export function heldSharedBytes(pids: readonly number[]): number {
  const systems = new Map(pids.flatMap(privateSystems));
  const files = new Map<string, number>();
  const mounts = tmpfsMounts();
  for (const path of pids.flatMap((pid) => filesInMemory(pid, mounts))) {
    const file = quietly(() => statSync(path));
    if (file && !systems.has(file.dev)) files.set(`${file.dev}:${file.ino}`, file.blocks * BLOCK_BYTES);
  }
  return [...systems.values(), ...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** The file systems in memory that a process in a sandbox has to itself: the device, and the bytes in use. */
function privateSystems(pid: number): [device: number, bytes: number][] {
  return PRIVATE_PLACES.flatMap((place): [number, number][] => {
    const path = `/proc/${pid}/root/${place}`;
    const device = quietly(() => statSync(path).dev);
    if (device === undefined || device === quietly(() => statSync(`/${place}`).dev)) return [];
    const system = quietly(() => statfsSync(path));
    return [[device, system?.type === TMPFS ? (system.blocks - system.bfree) * system.bsize : 0]];
  });
}

/** Open files of a process that have no disk behind them. */
function filesInMemory(pid: number, mounts: readonly string[]): string[] {
  const directory = `/proc/${pid}/fd`;
  const paths = (quietly(() => readdirSync(directory)) ?? []).map((fd) => `${directory}/${fd}`);
  return paths.filter((path) => {
    const name = quietly(() => readlinkSync(path)) ?? "";
    return name.startsWith("/memfd:") || mounts.some((mount) => isInside(mount, name));
  });
}

/** Where file systems in memory are mounted. Read from a list: asking each file could wait for a network. */
function tmpfsMounts(): string[] {
  const lines = quietly(() => readFileSync("/proc/self/mountinfo", "utf8"))?.split("\n") ?? [];
  return lines.filter((line) => line.includes(" - tmpfs ")).map((line) => line.split(" ")[4] ?? "");
}

/** A process may end, or close a file, between two looks at it. */
function quietly<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
