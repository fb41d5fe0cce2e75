import { Worker } from "node:worker_threads";

/** The threads of one registration: a script gets one for itself, and the last one that is free is kept for the next. */
export class Threads {
  #spare: Worker | undefined;
  #isDisposed = false;

  /** Starts a thread ahead of the first script. */
  warmUp(): void {
    if (!this.#isDisposed) this.#spare ??= startThread();
  }

  /** Runs `work` with its own thread. A thread whose work failed, or which `isReusable` rejects, is stopped. */
  async use<T>(work: (worker: Worker) => Promise<T>, isReusable: (result: T) => boolean): Promise<T> {
    const worker = this.#spare ?? startThread();
    this.#spare = undefined;
    worker.ref();
    let isFree = false;
    try {
      const result = await work(worker);
      isFree = isReusable(result);
      return result;
    } finally {
      if (isFree && this.#spare === undefined && !this.#isDisposed) {
        worker.unref();
        this.#spare = worker;
      } else await worker.terminate();
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#spare?.terminate();
  }
}

function startThread(): Worker {
  // Without the environment, and without an output that could reach the terminal.
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  // A thread that fails while no script uses it must not end the process.
  worker.on("error", () => undefined);
  return worker;
}
