import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // Files of their own: the engine is loaded by the first call, a thread is started from the worker, and the tasks are
  // for the worker or, where there is none, for the engine. What they share is small, and each has it.
  entry: {
    index: "src/index.ts",
    engine: "src/engine.ts",
    tasks: "src/tasks.ts",
    "agent-search-worker": "src/worker.ts",
  },
  external: ["./engine.js", "./tasks.js"],
  splitting: false,
  dts: { entry: "src/index.ts" },
});
