import { setImmediate as nextTurn } from "node:timers/promises";
import { errorMessage } from "@agent/core/toolkit";
import { loadTasks } from "../loadTasks.js";
import { CANCELLED, CELLS, type Lane, type LaneEvents, PROGRESS, type WorkerOrder } from "./messages.js";

/**
 * Does the work in the host's own thread, for places without worker threads. It gives way to other work every
 * few files, but a single file or a bad expression holds up the host as long as it takes.
 */
export function openLocalLane(simd: boolean, events: LaneEvents): Lane {
  const cells = new Int32Array(CELLS);
  let closed = false;
  const run = async ({ id, task }: WorkerOrder): Promise<void> => {
    const { loadModules, runTask } = await loadTasks();
    await loadModules(task);
    const steps = runTask(task, {
      simd,
      post: (reply) => events.message({ id, reply }),
      beat: () => {
        cells[PROGRESS] = ((cells[PROGRESS] ?? 0) + 1) | 0;
        if (closed || cells[CANCELLED] === id) throw new Error("cancelled");
      },
    });
    while (!steps.next().done) await nextTurn();
  };
  return {
    cells,
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
