import { StringDecoder } from "node:string_decoder";

const PAUSE_MS = 50;
const MAX_PENDING_BYTES = 16 * 1024;

type StreamName = "stdout" | "stderr";

/**
 * Passes output to a display as it arrives, in whole characters, and never more than the display can handle: at most
 * one piece every 50 ms, which keeps the newest 16 KB and counts the rest.
 */
export class LiveOutput {
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #emit: (chunk: string) => void;
  // Keep raw bytes and decode only what is shown: decoding a flood of output would slow the command down.
  readonly #pending: { stream: StreamName; chunk: Buffer }[] = [];
  #pendingBytes = 0;
  #skippedBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (chunk: string) => void) {
    this.#emit = emit;
  }

  /** Adds a chunk, which the caller may reuse afterwards. */
  write(stream: StreamName, chunk: Buffer): void {
    const newest = { stream, chunk };
    this.#pending.push(newest);
    this.#pendingBytes += chunk.length;
    this.#dropOldest();
    newest.chunk = Buffer.from(newest.chunk);
    if (this.#timer === undefined) this.#flush();
  }

  finish(): void {
    clearTimeout(this.#timer);
    const text = this.#take() + this.#decoders.stdout.end() + this.#decoders.stderr.end();
    if (text !== "") this.#show(text);
  }

  #show(text: string): void {
    try {
      this.#emit(text);
    } catch {
      this.#emit = () => undefined; // a display that fails must not crash the agent: it gets no more output
    }
  }

  #flush(): void {
    const text = this.#take();
    if (text !== "") this.#show(text);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#pendingBytes > 0) this.#flush();
    }, PAUSE_MS);
    this.#timer.unref();
  }

  #dropOldest(): void {
    for (let excess = this.#pendingBytes - MAX_PENDING_BYTES; excess > 0; ) {
      const oldest = this.#pending[0];
      if (oldest === undefined) return;
      const dropped = Math.min(excess, oldest.chunk.length);
      if (dropped === oldest.chunk.length) this.#pending.shift();
      else oldest.chunk = oldest.chunk.subarray(dropped);
      // The next chunk does not continue the last one, so the decoder is reset.
      this.#decoders[oldest.stream] = new StringDecoder("utf8");
      this.#skippedBytes += dropped;
      this.#pendingBytes -= dropped;
      excess -= dropped;
    }
  }

  #take(): string {
    let text = this.#skippedBytes > 0 ? `\n[… ${this.#skippedBytes} bytes not shown]\n` : "";
    const seen = new Set<StreamName>();
    for (const { stream, chunk } of this.#pending) {
      const afterGap = this.#skippedBytes > 0 && !seen.has(stream);
      seen.add(stream);
      text += this.#decoders[stream].write(afterGap ? chunk.subarray(startOfCharacter(chunk)) : chunk);
    }
    this.#pending.length = 0;
    this.#pendingBytes = 0;
    this.#skippedBytes = 0;
    return text;
  }
}

function startOfCharacter(chunk: Buffer): number {
  let start = 0;
  while (start < 3 && ((chunk[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}
