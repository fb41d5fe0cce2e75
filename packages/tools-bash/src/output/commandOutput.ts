import type { Readable } from "node:stream";
import { Capture, type Captured } from "./capture.js";
import { LiveOutput } from "./live.js";
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
