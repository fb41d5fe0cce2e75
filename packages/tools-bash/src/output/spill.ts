import { closeSync, openSync, rm, rmSync, writeSync } from "node:fs";
import type { TemporaryFiles } from "../host/temporaryFiles.js";

/** Size limits: of one spill file, and of all together before the oldest is removed. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
// Writes are buffered to this size: a copy in memory costs less than a system call for every write.
const BATCH_BYTES = 256 * 1024;

const NO_BYTES = Buffer.alloc(0);

/** The spill files of one host, with a limit on their total size. */
export class SpillStore {
  readonly #files: TemporaryFiles;
  #kept: SpillFile[] = [];

  constructor(files: TemporaryFiles) {
    this.#files = files;
  }

  /** Creates a file. Throws if it cannot be written. */
  create(name: string): SpillFile {
    const file = new SpillFile(this.#files.path(name), () => this.#removeOldest(file));
    this.#kept.push(file);
    return file;
  }

  #removeOldest(newest: SpillFile): void {
    this.#kept = this.#kept.filter((file) => !file.isDiscarded);
    let total = this.#kept.reduce((sum, file) => sum + file.size, 0);
    while (total > MAX_TOTAL_BYTES && this.#kept[0] !== undefined && this.#kept[0] !== newest) {
      const oldest = this.#kept.shift();
      total -= oldest?.size ?? 0;
      // In the background: freeing a large file takes a while.
      if (oldest) rm(oldest.path, { force: true }, () => undefined);
    }
  }
}

/** A file for output that does not fit into a result. Bounded; a full disk stops it without an error. */
export class SpillFile {
  readonly path: string;
  readonly #onClose: () => void;
  #fd: number | undefined;
  #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #batchBytes = 0;
  #size = 0;
  #complete = true;
  #discarded = false;

  constructor(path: string, onClose: () => void) {
    this.path = path;
    this.#onClose = onClose;
    this.#fd = openSync(path, "wx", 0o600);
  }

  /** Whether everything that was written is in the file. */
  get complete(): boolean {
    return this.#complete;
  }

  get size(): number {
    return this.#size;
  }

  get isDiscarded(): boolean {
    return this.#discarded;
  }

  /** Adds a chunk, which the caller may reuse afterwards. */
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
    this.#batch = NO_BYTES; // the list of files stays in memory, their batches need not
    this.#onClose();
  }

  /** Removes the file if the result holds everything after all. */
  discard(): void {
    this.#discarded = true;
    this.close();
    rmSync(this.path, { force: true });
  }

  #flush(): void {
    const bytes = this.#batch.subarray(0, this.#batchBytes);
    this.#batchBytes = 0; // reset first: giving up calls this method again
    if (this.#fd === undefined || bytes.length === 0) return;
    try {
      // A short write means that the disk is full: the next write would fail.
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
