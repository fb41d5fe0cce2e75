import { utf8Boundary } from "@agent/core/toolkit";
import { SpillFile } from "./spill.js";

/** What a result holds of each stream: 50 KB. */
export const MAX_STREAM_BYTES = 51_200;
// A character is at most 4 bytes: with that much more, the border at the cap can be told.
const KEEP_BYTES = MAX_STREAM_BYTES + 4;

/** What was captured of one stream. */
export interface Captured {
  /** The text, cut on a character border at `MAX_STREAM_BYTES`. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** Where the output is in full, if it was cut and the file could be written. */
  readonly file?: string;
  readonly fileComplete?: boolean;
}

/** Takes a stream of any length and keeps its start in memory; all of it goes to a file once it is too long. */
export class Capture {
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  #total = 0;
  #spill: SpillFile | undefined;
  #spillFailed = false;

  constructor(readonly name: "stdout" | "stderr") {}

  /** Takes a chunk, which may be used again by the caller afterwards. */
  write(chunk: Uint8Array): void {
    this.#total += chunk.length;
    if (this.#total > MAX_STREAM_BYTES) this.#spillOver(chunk);
    const room = KEEP_BYTES - this.#kept;
    if (room <= 0) return;
    // A copy: the chunk is only lent.
    const part = Uint8Array.prototype.slice.call(chunk, 0, room);
    this.#chunks.push(part);
    this.#kept += part.length;
  }

  finish(): Captured {
    this.#spill?.close();
    const bytes = Buffer.concat(this.#chunks);
    const truncated = this.#total > MAX_STREAM_BYTES;
    return {
      text: bytes.toString("utf8", 0, truncated ? utf8Boundary(bytes, MAX_STREAM_BYTES) : bytes.length),
      totalBytes: this.#total,
      truncated,
      ...(this.#spill && { file: this.#spill.path, fileComplete: this.#spill.complete }),
    };
  }

  #spillOver(chunk: Uint8Array): void {
    if (this.#spill === undefined && !this.#spillFailed) {
      try {
        this.#spill = new SpillFile(`${this.name}.log`);
        for (const earlier of this.#chunks) this.#spill.write(earlier);
      } catch {
        this.#spillFailed = true; // no place to write: the result says so by giving no file
      }
    }
    this.#spill?.write(chunk);
  }
}

/** The field of the result: the text, and what was left out. */
export function presentCapture(name: string, captured: Captured): string {
  if (!captured.truncated) return captured.text;
  const where =
    captured.file === undefined
      ? "The rest could not be written to a file."
      : captured.fileComplete
        ? `Complete output: ${captured.file}`
        : `Its beginning, as far as there was room: ${captured.file}`;
  return `${captured.text}\n[${name} truncated: the first ${MAX_STREAM_BYTES} of ${captured.totalBytes} bytes are shown. ${where}]`;
}
