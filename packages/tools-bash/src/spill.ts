import { closeSync, openSync, rm, writevSync } from "node:fs";
import { temporaryPath } from "./temporary.js";

/** What one spill file may hold, and all of them together before the oldest goes. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
// Written in pieces of this size: fewer, larger writes are what a file system is good at.
const BATCH_BYTES = 1024 * 1024;

const kept: SpillFile[] = [];

/** A file that takes what does not fit into a result. Bounded; a full disk ends it without an error. */
export class SpillFile {
  readonly path: string;
  #fd: number | undefined;
  #batch: Uint8Array[] = [];
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

  write(chunk: Uint8Array): void {
    if (this.#fd === undefined) return;
    const room = MAX_FILE_BYTES - this.#size;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#batch.push(part);
    this.#batchBytes += part.length;
    this.#size += part.length;
    if (part.length < chunk.length) this.#giveUp();
    else if (this.#batchBytes >= BATCH_BYTES) this.#flush();
  }

  close(): void {
    if (this.#fd === undefined) return;
    this.#flush();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    forgetOldest(this);
  }

  #flush(): void {
    const [batch, bytes] = [this.#batch, this.#batchBytes];
    this.#batch = [];
    this.#batchBytes = 0;
    if (this.#fd === undefined || bytes === 0) return;
    try {
      // Short only when the disk is full, and then the next write would fail.
      if (writevSync(this.#fd, batch) < bytes) this.#giveUp();
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
