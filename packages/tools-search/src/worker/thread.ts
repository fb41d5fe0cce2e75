import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "@agent/core/toolkit";
import { CANCELLED, PLACE, PROGRESS, type WorkerMessage, type WorkerOrder } from "../threadProtocol.js";
import { TaskRunner } from "./tasks.js";

// An expression that backtracks too long is passed to V8's linear engine, if that supports it. The deadline catches the
// rest.
try {
  setFlagsFromString("--enable-experimental-regexp-engine-on-excessive-backtracks");
} catch {
  // An engine without that flag: only the deadline applies.
}

const { sharedState, simd } = workerData as { sharedState: Int32Array; simd: boolean };
const port = parentPort;
if (!port) throw new Error("This file is started by the search pool, as a worker.");

const runner = new TaskRunner({ simd, backtracking: true });

port.on("message", async ({ id, task }: WorkerOrder) => {
  const send = (message: WorkerMessage): void => port.postMessage(message);
  try {
    await runner.load(task);
  } catch (error) {
    send({ id, broken: errorMessage(error) });
    return;
  }
  try {
    const steps = runner.run(task, {
      post: (reply) => send({ id, reply }),
      heartbeat: (place) => {
        Atomics.add(sharedState, PROGRESS, 1);
        sharedState[PLACE] = place;
        if (Atomics.load(sharedState, CANCELLED) === id) throw new Error("cancelled");
      },
    });
    while (!steps.next().done);
    send({ id, done: true });
  } catch (error) {
    send({ id, failed: errorMessage(error) });
  }
});

port.postMessage({ id: 0, done: true } satisfies WorkerMessage);
runner.warmUp();
