import { readdirSync, readlinkSync, statfsSync, statSync } from "node:fs";

const BLOCK_BYTES = 512;
const TMPFS = 0x01021994;
/** Where a sandbox has file systems of its own that are kept in memory. */
const PRIVATE_PLACES = ["tmp", "run", "dev/shm"];

/**
 * Shared memory that processes hold without having it mapped, which no memory figure of a process shows: files in
 * memory that are open and have no name (memfd, removed files of a tmpfs), and the private file systems of a sandbox.
 */
export function heldSharedBytes(pids: readonly number[]): number {
  const objects = new Map<string, number>();
  for (const pid of pids) {
    for (const path of unnamedFiles(pid)) {
      const file = quietly(() => statSync(path));
      if (file) objects.set(`${file.dev}:${file.ino}`, file.blocks * BLOCK_BYTES);
    }
    for (const place of PRIVATE_PLACES) {
      const path = `/proc/${pid}/root/${place}`;
      const device = quietly(() => statSync(path).dev);
      const isPrivate = device !== undefined && device !== quietly(() => statSync(`/${place}`).dev);
      if (isPrivate) objects.set(`${device}`, usedBytes(path));
    }
  }
  return [...objects.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Open files of a process that are kept in memory and have no name any more. */
function unnamedFiles(pid: number): string[] {
  const directory = `/proc/${pid}/fd`;
  const paths = (quietly(() => readdirSync(directory)) ?? []).map((fd) => `${directory}/${fd}`);
  return paths.filter((path) => {
    const name = quietly(() => readlinkSync(path)) ?? "";
    return name.endsWith(" (deleted)") && (name.startsWith("/memfd:") || isTmpfs(path));
  });
}

function isTmpfs(path: string): boolean {
  return quietly(() => statfsSync(path).type) === TMPFS;
}

function usedBytes(path: string): number {
  const system = quietly(() => statfsSync(path));
  return system?.type === TMPFS ? (system.blocks - system.bfree) * system.bsize : 0;
}

/** A process may end, or close a file, between two looks at it. */
function quietly<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
