import { lazyModule } from "@agent/core/toolkit";

/** What a worker does. Loaded into the host only where there are no workers. */
export const loadTasks = lazyModule(
  () => import("./tasks.js"),
  () => new URL("./tasks.js", import.meta.url),
);
