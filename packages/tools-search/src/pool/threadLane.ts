import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { CELLS, type Lane, type LaneEvents, type WorkerMessage, type WorkerOrder } from "./messages.js";

/** Beside this file once it is built; from the source tree (tests) it is in the build's folder. */
const PLACES = ["./agent-search-worker.js", "../../dist/agent-search-worker.js"];
const MAX_HEAP_MB = 512;

/** The worker's file, or `undefined` where there is none, for example inside a bundle. */
export function findWorkerFile(): string | undefined {
  try {
    return PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) =>
      existsSync(path),
    );
  } catch {
    return undefined;
  }
}

/** Starts a worker thread. */
export function openThreadLane(file: string, simd: boolean, events: LaneEvents): Lane {
  const cells = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(file, {
    workerData: { cells, simd },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    // What the host was started with (a loader, an inspector) is not for this thread.
    execArgv: [],
  });
  let closed = false;
  const died = (error: Error): void => {
    if (!closed) events.died(error);
    closed = true;
  };
  worker.on("message", (message: WorkerMessage) => events.message(message));
  worker.on("error", died);
  worker.on("exit", (code) => died(new Error(`the search worker ended with exit code ${code}`)));
  worker.unref();
  return {
    cells,
    start: (order: WorkerOrder) => worker.postMessage(order),
    hold: (held) => (held ? worker.ref() : worker.unref()),
    close: () => {
      closed = true;
      void worker.terminate();
    },
  };
}
