import { StringDecoder } from "node:string_decoder";

const PAUSE_MS = 50;
const MAX_PENDING_CHARACTERS = 16 * 1024;

/**
 * Hands output to a display as it comes, whole characters only, and never more than the display can take: at
 * most one piece every 50 ms, of which the newest 16 K characters are kept and the rest is counted.
 */
export class LiveOutput {
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #emit: (chunk: string) => void;
  #pending = "";
  #skippedBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (chunk: string) => void) {
    this.#emit = emit;
  }

  write(stream: "stdout" | "stderr", chunk: Buffer): void {
    if (chunk.length > MAX_PENDING_CHARACTERS && this.#timer !== undefined) {
      // A flood: decoding all of it to show a fraction would slow the command down.
      this.#skippedBytes += Buffer.byteLength(this.#pending) + chunk.length - MAX_PENDING_CHARACTERS;
      this.#decoders[stream] = new StringDecoder("utf8");
      this.#pending = this.#decoders[stream].write(chunk.subarray(startOfCharacter(chunk)));
      return;
    }
    this.#pending += this.#decoders[stream].write(chunk);
    if (this.#pending.length > MAX_PENDING_CHARACTERS) this.#shorten();
    if (this.#timer === undefined) this.#flush();
  }

  finish(): void {
    clearTimeout(this.#timer);
    this.#pending += this.#decoders.stdout.end() + this.#decoders.stderr.end();
    this.#flushNow();
  }

  #flush(): void {
    this.#flushNow();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#pending !== "") this.#flush();
    }, PAUSE_MS);
    this.#timer.unref();
  }

  #flushNow(): void {
    if (this.#pending === "") return;
    const skipped = this.#skippedBytes > 0 ? `\n[… ${this.#skippedBytes} bytes not shown]\n` : "";
    const text = skipped + this.#pending;
    this.#pending = "";
    this.#skippedBytes = 0;
    this.#emit(text);
  }

  #shorten(): void {
    const cut = this.#pending.slice(0, -MAX_PENDING_CHARACTERS);
    this.#skippedBytes += Buffer.byteLength(cut);
    this.#pending = this.#pending.slice(-MAX_PENDING_CHARACTERS).toWellFormed();
  }
}

function startOfCharacter(chunk: Buffer): number {
  let start = chunk.length - MAX_PENDING_CHARACTERS;
  for (let steps = 0; steps < 3 && ((chunk[start] ?? 0) & 0xc0) === 0x80; steps++) start++;
  return start;
}
