import { read, readSync } from "node:fs";
import { withTimeout } from "@agent/internal";

const LONGEST_WAIT_MS = 3000;

/** Fills `buffer` from `position` as far as the file goes; returns how much there was. Blocks meanwhile. */
export function readFully(fd: number, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** As `readFully`, without blocking the program. */
export async function readFullyAsync(fd: number, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const count = await readOnce(fd, buffer, filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/**
 * As `readFullyAsync` from the start, for files of the kernel that claim to be empty: some never answer,
 * and that is an error after three seconds.
 */
export async function readWithPatience(fd: number, buffer: Buffer): Promise<number> {
  return await withTimeout(readFullyAsync(fd, buffer, 0), LONGEST_WAIT_MS, () => {
    throw Object.assign(new Error("no data in time"), { code: "ETIMEDOUT" });
  });
}

function readOnce(fd: number, buffer: Buffer, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, offset, buffer.length - offset, position, (error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}
