import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // The toolkit publishes functions of this package: its types become part of ours.
  dts: { compilerOptions: { paths: { "@agent/internal": ["../internal/src/index.ts"] } } },
  entry: {
    host: "src/host.ts",
    index: "src/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
