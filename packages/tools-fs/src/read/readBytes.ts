import { read, readSync } from "node:fs";
import { withTimeout } from "@agent/core/toolkit";

const LONGEST_WAIT_MS = 3000;

/** Fills `buffer` with the bytes from `position` to the end of the file at most; returns their number. Blocks the thread. */
export function readFully(fd: number, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** Like `readFully`, without blocking the thread. */
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
 * Like `readFullyAsync` from the start of the file, for kernel files, which report a size of 0. A read of some of them
 * never returns: it fails after three seconds.
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
