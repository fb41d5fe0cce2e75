import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: {
    host: "src/host.ts",
    index: "src/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
