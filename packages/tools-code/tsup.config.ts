import { packageBuild } from "../../tsup.base.ts";

// The worker is its own program: the thread loads it from the file next to the entry.
export default packageBuild({ entry: ["src/index.ts", "src/worker.ts"], dts: { entry: ["src/index.ts"] } });
