import { setImmediate as nextTurn } from "node:timers/promises";
import { errorMessage } from "@agent/core/toolkit";
import { CANCELLED, PROGRESS, STATE_SIZE, type WorkerOrder } from "../../threadProtocol.js";
import type { TaskRunner } from "../../worker/tasks.js";
import type { Executor, ExecutorEvents } from "./executor.js";

/**
 * Does the work in the host's own thread, for places without worker threads. It gives way to other work every
 * few files. Nothing can interrupt it, so it refuses expressions that may take forever.
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
