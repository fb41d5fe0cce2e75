import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";

const FILE_MODE = 0o600;
const WRITE_BYTES = 64 * 1024;

/** Where a text is in the file. */
export interface Place {
  readonly position: number;
  readonly bytes: number;
}

/**
 * Texts that one process stores outside its memory. The file is unlinked as soon as it is open, so that a killed
 * process leaves nothing behind; the system frees its space when it is closed.
 */
export class IdleFile {
  readonly #path: string;
  #fd = -1;
  #size = 0;
  /** Texts that are not written yet, by position: one write for many of them. */
  readonly #pending = new Map<number, Buffer>();
  #pendingBytes = 0;
  #writeAt = WRITE_BYTES;

  constructor(path: string) {
    this.#path = path;
  }

  add(text: string): Place {
    const data = Buffer.from(text, "utf8");
    const place = { position: this.#size, bytes: data.length };
    this.#pending.set(place.position, data);
    this.#size += data.length;
    this.#pendingBytes += data.length;
    if (this.#pendingBytes >= this.#writeAt) this.#write();
    return place;
  }

  read({ position, bytes }: Place): string {
    const pending = this.#pending.get(position);
    if (pending) return pending.toString("utf8");
    const data = Buffer.allocUnsafe(bytes);
    for (let done = 0; done < bytes; ) {
      const count = readSync(this.#fd, data, done, bytes - done, position + done);
      if (count === 0) throw new Error("A temporary file of this process was cut off.");
      done += count;
    }
    return data.toString("utf8");
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
  }

  #write(): void {
    const data = Buffer.concat([...this.#pending.values()]);
    try {
      if (this.#fd === -1) this.#open();
      const start = this.#size - data.length;
      for (let done = 0; done < data.length; ) {
        done += writeSync(this.#fd, data, done, data.length - done, start + done);
      }
    } catch {
      // The disk is full, or no file can be opened: the texts stay in memory and are written with later ones.
      this.#writeAt = this.#pendingBytes + WRITE_BYTES;
      return;
    }
    this.#pending.clear();
    this.#pendingBytes = 0;
    this.#writeAt = WRITE_BYTES;
  }

  #open(): void {
    this.#fd = openSync(this.#path, "wx+", FILE_MODE);
    unlinkSync(this.#path);
  }
}
