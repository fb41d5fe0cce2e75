import { closeSync, openSync, renameSync, writeSync } from "node:fs";

const MAX_LOG_BYTES = 8 * 1024 * 1024;

/** A log that keeps the newest output: when the file is full it becomes `.old` and a new one begins. */
export class RollingLog {
  #fd: number | undefined;
  #size = 0;

  constructor(readonly path: string) {
    this.#fd = openSync(path, "wx", 0o600);
  }

  write(chunk: Buffer): void {
    if (this.#fd === undefined) return;
    try {
      if (this.#size > MAX_LOG_BYTES) this.#roll(this.#fd);
      this.#size += writeSync(this.#fd, chunk);
    } catch {
      // A full disk must not stop the job.
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #roll(full: number): void {
    closeSync(full);
    this.#fd = undefined;
    renameSync(this.path, `${this.path}.old`);
    this.#fd = openSync(this.path, "wx", 0o600);
    this.#size = 0;
  }
}
