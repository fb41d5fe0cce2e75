import { closeSync, constants, openSync, rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { findProgram, HELPER_ENVIRONMENT } from "@agent/core/toolkit";
import { spawn } from "../helpers/spawn.js";
import type { TemporaryFiles } from "../host/temporaryFiles.js";

const SMALLEST_BATCH = 16;
/** The capacity of a pipe: no read returns more. */
const CHUNK_BYTES = 64 * 1024;

/**
 * One output of a command: the write end, to be closed after the start, and the read end. A chunk that the stream emits
 * is valid until the listener returns.
 */
export interface OutputPipe {
  readonly fd: number;
  readonly stream: Readable;
}

/**
 * Reusable named pipes for the output of commands. Node connects children by sockets, which cannot be opened by name:
 * `echo x > /dev/stderr` fails on them. A named pipe can be opened, and it is faster.
 */
export class PipePool {
  readonly #files: TemporaryFiles;
  readonly #free: string[] = [];
  // One buffer for the reads of all pipes: it stays in the CPU cache, and creates no garbage.
  #chunk: Buffer | undefined;
  #canRead: boolean | undefined;
  #canMake = true;
  #waiting = 0;
  #making: Promise<boolean> | undefined;

  constructor(files: TemporaryFiles) {
    this.#files = files;
  }

  /** Returns a pipe; `undefined` if none is available now. Then a socket is used. */
  async open(): Promise<OutputPipe | undefined> {
    this.#canRead ??= canOwnDescriptors();
    return this.#canRead ? this.#first((path) => this.#open(path)) : undefined;
  }

  /**
   * A descriptor of a pipe that is open for reading and writing: a program that inherits it and reads from it waits
   * until the agent writes, and never reaches end of file, not even when the agent is killed. Close it after use.
   */
  async openBothEnds(): Promise<number> {
    const descriptor = await this.#first(openBothEnds);
    if (descriptor === undefined) throw new Error("No named pipe can be made with mkfifo. Nothing was run.");
    return descriptor;
  }

  /** The first free pipe that can be opened. */
  async #first<Result>(open: (path: string) => Result | undefined): Promise<Result | undefined> {
    this.#waiting++;
    while (this.#free.length === 0 && this.#canMake) {
      this.#making ??= this.#make(Math.max(SMALLEST_BATCH, this.#waiting)).finally(() => {
        this.#making = undefined;
      });
      if (!(await this.#making)) break;
    }
    this.#waiting--;
    for (let path = this.#free.pop(); path !== undefined; path = this.#free.pop()) {
      const opened = open(path);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /** Removes unused pipes. */
  removeFree(): void {
    for (const path of this.#free.splice(0)) rmSync(path, { force: true });
  }

  #open(path: string): OutputPipe | undefined {
    let reader: number | undefined;
    try {
      // Open the read end first and non-blocking: opening the write end alone would block until a reader comes.
      reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const fd = openSync(path, constants.O_WRONLY);
      this.#chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const onread = {
        buffer: this.#chunk,
        callback: (length: number, buffer: Uint8Array): boolean => {
          stream.emit("data", buffer.subarray(0, length));
          return true;
        },
      };
      const { Socket } = process.getBuiltinModule("node:net");
      const options = { fd: reader, readable: true, writable: false, onread };
      const stream = new Socket(options);
      let ended = false;
      stream.once("end", () => {
        ended = true;
      });
      stream.once("close", () => {
        // At end of file no process holds the pipe, so it can be reused; before that a child may still write to it.
        if (ended) this.#free.push(path);
        else rmSync(path, { force: true });
      });
      return { fd, stream };
    } catch {
      if (reader !== undefined) closeSync(reader);
      return undefined; // the temporary directory was cleaned up
    }
  }

  /**
   * Resolves to whether it created them. A failure may be temporary, such as a lack of file descriptors: the next
   * command tries again.
   */
  #make(count: number): Promise<boolean> {
    const mkfifo = findProgram("mkfifo");
    if (mkfifo === undefined) {
      this.#canMake = false;
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      try {
        const paths = Array.from({ length: count }, () => this.#files.path("pipe", "pipes"));
        const child = spawn(mkfifo, ["-m", "600", ...paths], { stdio: "ignore", env: HELPER_ENVIRONMENT });
        child.once("error", () => resolve(false));
        child.once("exit", (code) => {
          if (code === 0) this.#free.push(...paths);
          resolve(code === 0);
        });
      } catch {
        resolve(false);
      }
    });
  }
}

function openBothEnds(path: string): number | undefined {
  try {
    const descriptor = openSync(path, constants.O_RDWR);
    // Without a name it is not reused: the program may hold it for longer than the agent.
    rmSync(path, { force: true });
    return descriptor;
  } catch {
    return undefined; // the temporary directory was cleaned up
  }
}

/**
 * Whether a file descriptor opened by `fs` can be passed to a socket, which closes it. In a worker thread it cannot:
 * `fs` tracks the descriptors of the thread and closes those numbers when the thread exits, and by then a number may
 * belong to a file of the main program. Bun and Deno do not read from such a descriptor.
 */
function canOwnDescriptors(): boolean {
  const isNode = process.versions.bun === undefined && !("Deno" in globalThis);
  return isNode && process.getBuiltinModule("node:worker_threads").isMainThread;
}
