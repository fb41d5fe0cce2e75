import { packageBuild } from "../../tsup.base.ts";

/** The process of an isolated pack sees this file alone, so it imports no other. */
const runtime = packageBuild({
  entry: { packRuntime: "src/isolation/runtime.ts" },
  splitting: false,
  dts: false,
  clean: false,
});

const library = packageBuild({
  clean: ["!packRuntime.js"],
  // The toolkit publishes functions of this package: its types become part of ours.
  dts: { compilerOptions: { paths: { "@agent/internal": ["../internal/src/index.ts"] } } },
  entry: {
    host: "src/host.ts",
    index: "src/index.ts",
    isolation: "src/isolation/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    sandbox: "src/sandbox/index.ts",
    toolkit: "src/toolkit/index.ts",
  },
});

export default [library, runtime];
