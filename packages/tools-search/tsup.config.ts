import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // The worker is a file of its own: a thread is started from it.
  entry: { index: "src/index.ts", "agent-search-worker": "src/worker.ts" },
  dts: { entry: "src/index.ts" },
});
