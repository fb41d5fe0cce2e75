import type { Worker, WorkerOptions } from "node:worker_threads";
import { STATE_SIZE, type WorkerMessage } from "../../threadProtocol.js";
import source from "../../worker/thread.ts?bundled";
import type { Executor, ExecutorEvents } from "./executor.js";

const MAX_HEAP_MB = 512;

/** Starts the worker. Rejects or throws where there are no threads. */
type StartWorker = (options: WorkerOptions) => Promise<Worker>;

/** Starts a worker thread; reports that it died where it cannot start. */
export function openThread(
  simd: boolean,
  events: ExecutorEvents,
  start: StartWorker = startWorker,
): Executor {
  const sharedState = new Int32Array(new SharedArrayBuffer(STATE_SIZE * Int32Array.BYTES_PER_ELEMENT));
  let worker: Worker | undefined;
  let held = false;
  let closed = false;
  const died = (error: Error): void => {
    if (!closed) events.died(error);
    closed = true;
  };
  const attach = (started: Worker): void => {
    if (closed) {
      void started.terminate();
      return;
    }
    worker = started;
    worker.on("message", (message: WorkerMessage) => events.message(message));
    worker.on("error", died);
    worker.on("exit", (code) => died(new Error(`the search worker ended with exit code ${code}`)));
    if (!held) worker.unref();
  };
  start({
    workerData: { sharedState, simd },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    // Do not inherit the flags of the host's Node: a loader or an inspector is not meant for this thread.
    execArgv: [],
  }).then(attach, died);
  return {
    sharedState,
    // Nothing is started before the worker has said that it is ready.
    start: (order) => worker?.postMessage(order),
    hold: (hold) => {
      held = hold;
      if (hold) worker?.ref();
      else worker?.unref();
    },
    close: () => {
      closed = true;
      void worker?.terminate();
    },
  };
}

/**
 * The worker is started from its source text. Its own file would be lost in a bundle, or be copied there without
 * what it imports; and a first search that finds no free file descriptor would never get it, since Node keeps a failed import.
 */
async function startWorker(options: WorkerOptions): Promise<Worker> {
  // Loaded by the first search: most programs that import the pack need no threads for a while.
  const { Worker } = await import("node:worker_threads");
  return new Worker(source, { ...options, eval: true });
}
