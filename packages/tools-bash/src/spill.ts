import { closeSync, openSync, rm, writeSync } from "node:fs";
import { temporaryPath } from "./temporary.js";

/** What one spill file may hold, and all of them together before the oldest goes. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
// Collected to pieces of this size: a copy in memory costs less than what a file system does for every write.
const BATCH_BYTES = 256 * 1024;

const NO_BYTES = Buffer.alloc(0);
const kept: SpillFile[] = [];

/** A file that takes what does not fit into a result. Bounded; a full disk ends it without an error. */
export class SpillFile {
  readonly path: string;
  #fd: number | undefined;
  #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #batchBytes = 0;
  #size = 0;
  #complete = true;

  constructor(name: string) {
    this.path = temporaryPath(name);
    this.#fd = openSync(this.path, "wx", 0o600);
    kept.push(this);
  }

  /** Whether everything that was written is in the file. */
  get complete(): boolean {
    return this.#complete;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a chunk, which may be used again by the caller afterwards. */
  write(chunk: Uint8Array): void {
    if (this.#fd === undefined) return;
    const part = chunk.subarray(0, MAX_FILE_BYTES - this.#size);
    this.#size += part.length;
    for (let start = 0; start < part.length && this.#fd !== undefined; ) {
      const piece = part.subarray(start, start + BATCH_BYTES - this.#batchBytes);
      this.#batch.set(piece, this.#batchBytes);
      this.#batchBytes += piece.length;
      start += piece.length;
      if (this.#batchBytes === BATCH_BYTES) this.#flush();
    }
    if (part.length < chunk.length) this.#giveUp();
  }

  close(): void {
    if (this.#fd === undefined) return;
    this.#flush();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#batch = NO_BYTES; // files are remembered, their memory is not
    forgetOldest(this);
  }

  #flush(): void {
    const bytes = this.#batch.subarray(0, this.#batchBytes);
    this.#batchBytes = 0; // first, because giving up comes back here
    if (this.#fd === undefined || bytes.length === 0) return;
    try {
      // Short only when the disk is full, and then the next write would fail.
      if (writeSync(this.#fd, bytes) < bytes.length) this.#giveUp();
    } catch {
      this.#giveUp();
    }
  }

  #giveUp(): void {
    this.#complete = false;
    this.close();
  }
}

function forgetOldest(newest: SpillFile): void {
  let total = kept.reduce((sum, file) => sum + file.size, 0);
  while (total > MAX_TOTAL_BYTES && kept[0] !== undefined && kept[0] !== newest) {
    const oldest = kept.shift();
    total -= oldest?.size ?? 0;
    // In the background: freeing a large file takes a while.
    if (oldest) rm(oldest.path, { force: true }, () => undefined);
  }
}
