import { utf8Boundary } from "@agent/core/toolkit";
import { PlainText } from "./plainText.js";
import type { SpillFile, SpillStore } from "./spill.js";

/** The maximum size of each stream in a result: 50 KB. */
export const MAX_STREAM_BYTES = 51_200;

/** The captured output of one stream. */
export interface Captured {
  /** Plain text of at most `MAX_STREAM_BYTES`; the beginning and the end of longer output. */
  readonly text: string;
  /** The size of the raw output, before escape codes were removed. */
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** The file with the full output, if it was truncated and the file could be written. */
  readonly file?: string;
  readonly fileComplete?: boolean;
}

/**
 * Captures a stream of any length and keeps the beginning and the end of its plain text in memory. Once it is too long,
 * the raw output goes to a file, byte for byte.
 */
export class Capture {
  readonly #spills: SpillStore;
  readonly #text = new HeadTail(MAX_STREAM_BYTES);
  readonly #plain = new PlainText((bytes) => this.#text.write(bytes));
  /** The output before the file was created. */
  #first: Uint8Array[] = [];
  #total = 0;
  #spill: SpillFile | undefined;
  #spillFailed = false;

  constructor(
    readonly name: "stdout" | "stderr",
    spills: SpillStore,
  ) {
    this.#spills = spills;
  }

  /** Adds a chunk, which the caller may reuse afterwards. */
  write(chunk: Buffer): void {
    this.#total += chunk.length;
    if (this.#total > MAX_STREAM_BYTES) this.#spillOver(chunk);
    else this.#first.push(Uint8Array.prototype.slice.call(chunk));
    this.#plain.write(chunk);
  }

  finish(): Captured {
    this.#plain.end();
    const truncated = this.#text.isCut;
    if (truncated) this.#spill?.close();
    else this.#spill?.discard();
    return {
      text: this.#text.toString(),
      totalBytes: this.#total,
      truncated,
      ...(truncated && this.#spill && { file: this.#spill.path, fileComplete: this.#spill.complete }),
    };
  }

  #spillOver(chunk: Uint8Array): void {
    if (this.#spill === undefined && !this.#spillFailed) {
      try {
        this.#spill = this.#spills.create(`${this.name}.log`);
        for (const earlier of this.#first) this.#spill.write(earlier);
      } catch {
        this.#spillFailed = true; // no file can be written: the result has no file name then
      }
      this.#first = [];
    }
    this.#spill?.write(chunk);
  }
}

/** The field of the result: the text, and a notice if something is omitted. */
export function presentCapture(name: string, captured: Captured): string {
  if (!captured.truncated) return captured.text;
  const where =
    captured.file === undefined
      ? "The rest could not be written to a file."
      : captured.fileComplete
        ? `Complete output: ${captured.file}`
        : `Its beginning, as far as there was room: ${captured.file}`;
  const newline = captured.text.endsWith("\n") ? "" : "\n";
  return `${captured.text}${newline}[${name} truncated: the beginning and the end of ${captured.totalBytes} bytes are shown. ${where}]`;
}

const NEWLINE = 0x0a;

/** Lines are kept whole if that costs no more than this. */
const MAX_LOSS_BYTES = 2048;

/** Keeps the beginning and the end of a text of any length within `limit` bytes; all of it if it fits. */
class HeadTail {
  readonly #limit: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  /** The end of the output after the first `limit` bytes: at least the newest half of the limit. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many bytes were written. */
  get totalBytes(): number {
    return this.#total;
  }

  get isCut(): boolean {
    return this.#total > this.#limit;
  }

  /** Adds bytes, which the caller may reuse afterwards. */
  write(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const first = bytes.subarray(0, this.#limit - this.#headBytes);
    if (first.length > 0) this.#head.push(Uint8Array.prototype.slice.call(first));
    this.#headBytes += first.length;
    const rest = bytes.subarray(first.length);
    if (rest.length === 0) return;
    const newest = rest.subarray(Math.max(0, rest.length - this.#limit));
    this.#tail.push(Uint8Array.prototype.slice.call(newest));
    this.#tailBytes += newest.length;
    // Joined only occasionally, so that many small writes do not each copy all of it.
    if (this.#tailBytes > 2 * this.#limit) this.#shortenTail();
  }

  /** The text: all of it, or its beginning and end with a line between them that states how much is omitted. */
  toString(): string {
    const head = Buffer.concat(this.#head);
    if (!this.isCut) return head.toString("utf8");
    const end = Buffer.concat([head, ...this.#tail]);
    // The maximum length of the line in between.
    const room = this.#limit - Buffer.byteLength(lineBetween(this.#total)) - 1;
    const headEnd = lineEnd(head, utf8Boundary(head, Math.ceil(room / 2)));
    const tailStart = lineStart(end, end.length - Math.floor(room / 2));
    const leftOut = this.#total - headEnd - (end.length - tailStart);
    const first = head.toString("utf8", 0, headEnd);
    return `${first}${first.endsWith("\n") ? "" : "\n"}${lineBetween(leftOut)}${end.toString("utf8", tailStart)}`;
  }

  #shortenTail(): void {
    const tail = Buffer.concat(this.#tail);
    const newest = tail.subarray(tail.length - this.#limit);
    this.#tail = [newest];
    this.#tailBytes = newest.length;
  }
}

function lineBetween(bytes: number): string {
  return `[… ${bytes} bytes left out here …]\n`;
}

/** The end of the last whole line up to `end`, if it is near. */
function lineEnd(bytes: Buffer, end: number): number {
  const newline = bytes.lastIndexOf(NEWLINE, end - 1);
  return end - (newline + 1) <= MAX_LOSS_BYTES && newline >= 0 ? newline + 1 : end;
}

/** The start of the first whole line from `start` on, if it is near; else of the first whole character. */
function lineStart(bytes: Buffer, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  if (newline >= 0 && newline + 1 - start <= MAX_LOSS_BYTES && newline + 1 < bytes.length) return newline + 1;
  let first = start;
  while (first < start + 3 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first++;
  return first;
}
