import { closeSync, constants, openSync, rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { findProgram, HELPER_ENVIRONMENT } from "./host/programs.js";
import { createSocket, spawn } from "./lazyNode.js";
import { temporaryPath } from "./temporary.js";

const SMALLEST_BATCH = 16;
/** What a pipe holds, so no read brings more. */
const CHUNK_BYTES = 64 * 1024;

// What is read lies here until the next read, of whichever pipe: for a flood, nothing is faster than memory
// that is still in the cache, and nothing has to be collected afterwards.
let chunk: Buffer | undefined;

/**
 * One way out of a command: the end it writes to, to be closed after the start, and the end to read. A chunk
 * that the stream hands out is good until the listener returns.
 */
export interface OutputPipe {
  readonly fd: number;
  readonly stream: Readable;
}

const free: string[] = [];
let unavailable = false;
let waiting = 0;
let making: Promise<void> | undefined;

/**
 * A real pipe. Node connects children by sockets, which cannot be opened by name: `echo x > /dev/stderr` fails
 * on them. A named pipe can, and it is faster. `undefined` where none can be made; then a socket must do.
 */
export async function openPipe(): Promise<OutputPipe | undefined> {
  waiting++;
  while (free.length === 0 && !unavailable) {
    making ??= makePipes(Math.max(SMALLEST_BATCH, waiting)).finally(() => {
      making = undefined;
    });
    await making;
  }
  waiting--;
  for (let path = free.pop(); path !== undefined; path = free.pop()) {
    const pipe = tryOpen(path);
    if (pipe !== undefined) return pipe;
  }
  return undefined;
}

function tryOpen(path: string): OutputPipe | undefined {
  let reader: number | undefined;
  try {
    // The reader first, and without waiting: a writer alone would wait for it.
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const fd = openSync(path, constants.O_WRONLY);
    chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const onread = {
      buffer: chunk,
      callback: (length: number, buffer: Uint8Array): boolean => {
        stream.emit("data", buffer.subarray(0, length));
        return true;
      },
    };
    const stream = createSocket({ fd: reader, readable: true, writable: false, onread });
    let ended = false;
    stream.once("end", () => {
      ended = true;
    });
    stream.once("close", () => {
      // At its end nobody holds it, so that it can serve again; otherwise a child still writes to it.
      if (ended) free.push(path);
      else rmSync(path, { force: true });
    });
    return { fd, stream };
  } catch {
    if (reader !== undefined) closeSync(reader);
    return undefined; // someone cleaned up the temporary directory
  }
}

function makePipes(count: number): Promise<void> {
  return new Promise((resolve) => {
    const fail = (): void => {
      unavailable = true;
      resolve();
    };
    const mkfifo = findProgram("mkfifo");
    if (mkfifo === undefined) return fail();
    try {
      const paths = Array.from({ length: count }, () => temporaryPath("pipe", "pipes"));
      const child = spawn(mkfifo, ["-m", "600", ...paths], { stdio: "ignore", env: HELPER_ENVIRONMENT });
      child.once("error", fail);
      child.once("exit", (code) => {
        if (code !== 0) return fail();
        free.push(...paths);
        resolve();
      });
    } catch {
      fail();
    }
  });
}
