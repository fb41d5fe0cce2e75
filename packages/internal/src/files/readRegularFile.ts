import { nodeFs } from "./nodeModules.js";

/**
 * Opens a regular file, runs `use` on it and closes it. Throws if it cannot be opened or is not a regular file. Never
 * blocks: the file that was checked is the one that is read, and a FIFO in its place is not waited for.
 */
export function withRegularFile<T>(path: string, use: (descriptor: number, size: number) => T): T {
  const { O_RDONLY, O_NONBLOCK = 0 } = nodeFs.constants;
  const descriptor = nodeFs.openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const info = nodeFs.fstatSync(descriptor);
    if (!info.isFile()) throw new Error("it is not a regular file");
    return use(descriptor, info.size);
  } finally {
    nodeFs.closeSync(descriptor);
  }
}

/** The first `most` bytes of a regular file; `undefined` if it cannot be read or is not one. */
export function readRegularFile(path: string, most: number): Buffer | undefined {
  try {
    return withRegularFile(path, (descriptor, size) => readStart(descriptor, Math.min(size, most)));
  } catch {
    return undefined;
  }
}

/** The first bytes of an open file. */
export function readStart(descriptor: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = nodeFs.readSync(descriptor, buffer, read, length - read, read);
    if (count === 0) break;
    read += count;
  }
  return buffer.subarray(0, read);
}
