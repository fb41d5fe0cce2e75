import type { Worker, WorkerOptions } from "node:worker_threads";
import { type Executor, type ExecutorEvents, STATE_SIZE, type WorkerMessage } from "./executor.js";

const MAX_HEAP_MB = 512;

/** Starts a worker thread. Throws, or reports that it died, where there is no file for it, as in most bundles. */
export function openThread(simd: boolean, events: ExecutorEvents, start = startWorker): Executor {
  const sharedState = new Int32Array(new SharedArrayBuffer(STATE_SIZE * Int32Array.BYTES_PER_ELEMENT));
  const worker = start({
    workerData: { sharedState, simd },
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
    sharedState,
    start: (order) => worker.postMessage(order),
    hold: (held) => (held ? worker.ref() : worker.unref()),
    close: () => {
      closed = true;
      void worker.terminate();
    },
  };
}

function startWorker(options: WorkerOptions): Worker {
  // Loaded by the first search: most programs that import the pack need no threads for a while.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  // The file has a name of its own: in a bundle's folder a "worker.js" would be somebody else's.
  return new Worker(new URL("./agent-search-worker.js", import.meta.url), options);
}
