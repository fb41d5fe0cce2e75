import { HeadTail } from "./headTail.js";
import { PlainText } from "./plainText.js";
import type { SpillFile, SpillStore } from "./spill.js";

/** The most a result holds of each stream: 50 KB. */
export const MAX_STREAM_BYTES = 51_200;

/** The captured output of one stream. */
export interface Captured {
  /** Plain text of at most `MAX_STREAM_BYTES`; of a longer one the beginning and the end. */
  readonly text: string;
  /** The size of the raw output, before escape codes were removed. */
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** Where the output is in full, if it was cut and the file could be written. */
  readonly file?: string;
  readonly fileComplete?: boolean;
}

/**
 * Takes a stream of any length and keeps the beginning and the end of its plain text in memory. All that the command
 * printed, byte for byte, goes to a file once it is too long.
 */
export class Capture {
  readonly #spills: SpillStore;
  readonly #text = new HeadTail(MAX_STREAM_BYTES);
  readonly #plain = new PlainText((bytes) => this.#text.write(bytes));
  /** The output that came before the file was created. */
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

  /** Takes a chunk, which may be used again by the caller afterwards. */
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
        this.#spillFailed = true; // no place to write: the result says so by giving no file
      }
      this.#first = [];
    }
    this.#spill?.write(chunk);
  }
}

/** The field of the result: the text, and a notice if something is left out. */
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
