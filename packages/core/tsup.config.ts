import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: {
    index: "src/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
