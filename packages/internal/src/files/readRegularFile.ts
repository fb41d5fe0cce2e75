import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * The content of a regular file: at most its first `most` bytes. `undefined` for everything that is none, is not there or
 * cannot be read. Never waits: what was looked at is what is read, and a FIFO put in its place is not opened for good.
 */
export function readRegularFile(path: string, most: number): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const info = fstatSync(descriptor);
    if (!info.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(info.size, most));
    let read = 0;
    while (read < buffer.length) {
      const count = readSync(descriptor, buffer, read, buffer.length - read, read);
      if (count === 0) break;
      read += count;
    }
    return buffer.subarray(0, read);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
