import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Capture, type Captured } from "./capture.js";
import type { SpillStore } from "./spill.js";

/** How long to wait for output after the shell has exited, if a child in the background keeps printing. */
const DRAIN_MS = 500;
const QUIET_MS = 50;

/** Reads both streams of a shell: keeps what the result needs, and passes everything to a display. */
export function captureOutput(
  shell: { readonly stdout: Readable; readonly stderr: Readable },
  spills: SpillStore,
  onOutput: ((chunk: string) => void) | undefined,
) {
  const live = onOutput && new LiveOutput(onOutput);
  let chunks = 0;
  const streams = (["stdout", "stderr"] as const).map((name) => {
    const capture = new Capture(name, spills);
    const stream = shell[name];
    const state = { open: true };
    const onData = (chunk: Buffer): void => {
      chunks++;
      capture.write(chunk);
      live?.write(name, chunk);
    };
    stream.on("data", onData);
    const closed = new Promise<void>((resolve) => {
      const end = (): void => {
        state.open = false;
        resolve();
      };
      stream.once("end", end).once("close", end).once("error", end);
    });
    return { name, stream, capture, state, closed, onData };
  });
  const isOpen = (): boolean => streams.some(({ state }) => state.open);
  return {
    isOpen,
    /** Waits for the end of both streams, but not for a child in the background that holds them open. */
    async drain(): Promise<void> {
      if (!isOpen()) return;
      const closed = Promise.all(streams.map((one) => one.closed)).then(() => true);
      const deadline = performance.now() + DRAIN_MS;
      for (let before = -1; before !== chunks && performance.now() < deadline; ) {
        before = chunks;
        const quiet = quietTurn();
        const isClosed = await Promise.race([closed, quiet.over]);
        quiet.cancel();
        if (isClosed) return;
      }
    },
    finish() {
      for (const { stream, onData } of streams) stream.off("data", onData);
      live?.finish();
      const [stdout, stderr] = streams.map(({ capture }) => capture.finish());
      return { stdout, stderr } as { stdout: Captured; stderr: Captured };
    },
    close(): void {
      for (const { stream } of streams) stream.destroy();
    },
  };
}

/** Waits a moment and then one turn of the event loop, so that data in the pipes has been read even under load. */
function quietTurn() {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, undefined), QUIET_MS);
  });
  return { over, cancel: () => clearTimeout(timer) };
}

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
