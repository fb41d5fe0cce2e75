import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { errorMessage } from "@agent/core/toolkit";
import {
  CANCELLED,
  PROGRESS,
  STATE_SIZE,
  type WorkerMessage,
  type WorkerOrder,
} from "../../threadProtocol.js";
import type { TaskRunner } from "../../worker/tasks.js";
import source from "../../worker/thread.ts?bundled";
import type { Executor, ExecutorEvents, OpenExecutor } from "./executor.js";
import { Pool } from "./pool.js";

const DEFAULT_WORKERS = 2;

export interface PoolOptions {
  /** The number of threads; 0 works in the host's own thread. Default: 2, or 1 on a single core. */
  readonly workers?: number | undefined;
  /** `false` disables WebAssembly, for comparing the two. */
  readonly simd?: boolean;
}

const pools = new Map<string, Pool>();

/** The pool for these options: tools and registries with the same options share one. */
export function sharedPool({ workers, simd = true }: PoolOptions = {}): Pool {
  const size = workers ?? Math.min(DEFAULT_WORKERS, availableParallelism());
  const key = `${size} ${simd}`;
  const pool = pools.get(key) ?? createPool(size, simd);
  pools.set(key, pool);
  return pool;
}

function createPool(size: number, simd: boolean): Pool {
  const local: OpenExecutor = (events) => openLocalExecutor(simd, events);
  return size === 0 ? new Pool(1, local, local) : new Pool(size, (events) => openThread(simd, events), local);
}

/**
 * Does the work in the host's own thread, for runtimes without worker threads. It yields every few files. Nothing can
 * interrupt it, so it refuses expressions that may take forever.
 */
export function openLocalExecutor(simd: boolean, events: ExecutorEvents): Executor {
  const sharedState = new Int32Array(STATE_SIZE);
  let closed = false;
  let runner: TaskRunner | undefined;
  const run = async ({ id, task }: WorkerOrder): Promise<void> => {
    const { TaskRunner } = await import("../../worker/tasks.js");
    runner ??= new TaskRunner({ simd, backtracking: false });
    await runner.load(task);
    const steps = runner.run(task, {
      post: (reply) => events.message({ id, reply }),
      heartbeat: () => {
        Atomics.add(sharedState, PROGRESS, 1);
        if (closed || sharedState[CANCELLED] === id) throw new Error("cancelled");
      },
    });
    while (!steps.next().done) await nextTurn();
  };
  return {
    sharedState,
    start(order) {
      run(order).then(
        () => events.message({ id: order.id, done: true }),
        (error: unknown) => events.message({ id: order.id, failed: errorMessage(error) }),
      );
    },
    hold: () => undefined,
    close: () => {
      closed = true;
    },
  };
}

const MAX_HEAP_MB = 512;

/** Starts the worker. Rejects or throws if there are no threads. */
type StartWorker = (options: WorkerOptions) => Promise<Worker>;

/** Starts a worker thread; reports it as crashed if it cannot start. */
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
    // Nothing is sent before the worker has reported that it is ready.
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
 * The worker is started from its source text. A separate file would be lost in a bundle, or be copied there without its
 * imports; and after a first search without a free file descriptor it could never be loaded, since Node caches a failed
 * import.
 */
async function startWorker(options: WorkerOptions): Promise<Worker> {
  // Loaded by the first search: most programs that import the pack need no threads for a while.
  const { Worker } = await import("node:worker_threads");
  return new Worker(source, { ...options, eval: true });
}
