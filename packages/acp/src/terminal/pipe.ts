import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { findProgram, HELPER_ENVIRONMENT } from "@agent/internal";

const RETRY_MS = 20;
/** The most output that waits for the reader. If the editor reads too slowly, its terminal misses the oldest output. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 5000;

/** Makes a named pipe that only this user can open. Rejects on systems without named pipes. */
export async function makePipe(path: string): Promise<void> {
  const mkfifo = findProgram("mkfifo");
  if (mkfifo === undefined) throw new Error("mkfifo is not installed");
  const child = spawn(mkfifo, ["-m", "600", path], { stdio: "ignore", env: HELPER_ENVIRONMENT });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`mkfifo ended with ${code}`);
}

/**
 * Writes to a named pipe without ever waiting for its reader: neither the event loop nor a thread stops if the program at
 * the other end starts late, reads slowly or goes away.
 */
export class PipeWriter {
  readonly #path: string;
  #fd: number | undefined;
  #waiting: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ending: (() => void) | undefined;
  #endBy = Number.POSITIVE_INFINITY;
  #isBroken = false;

  constructor(path: string) {
    this.#path = path;
  }

  write(text: string): void {
    if (this.#isBroken || text === "") return;
    this.#waiting.push(Buffer.from(text));
    let size = this.#waiting.reduce((sum, { length }) => sum + length, 0);
    while (size > MAX_WAITING_BYTES && this.#waiting.length > 1) size -= this.#waiting.shift()?.length ?? 0;
    this.#flush();
  }

  /** Resolves when everything is written and the pipe is closed, or when the reader did not take it in time. */
  async end(): Promise<void> {
    if (this.#isBroken) return;
    this.#endBy = performance.now() + MAX_WAIT_MS;
    await new Promise<void>((resolve) => {
      this.#ending = resolve;
      this.#flush();
    });
  }

  /** Stops writing and drops the rest: the reader is gone. */
  abandon(): void {
    clearTimeout(this.#timer);
    this.#close();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    try {
      // Fails with ENXIO as long as no process has the pipe open for reading.
      this.#fd ??= openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const written = writeSync(this.#fd, next);
        if (written < next.length) this.#waiting[0] = next.subarray(written);
        else this.#waiting.shift();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const comesLater = code === "ENXIO" || code === "EAGAIN";
      if (comesLater && performance.now() < this.#endBy) {
        this.#timer = setTimeout(() => this.#flush(), RETRY_MS).unref();
        return;
      }
      this.#close();
      return;
    }
    if (this.#ending) this.#close();
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#isBroken = true;
    this.#waiting = [];
    this.#ending?.();
  }
}
