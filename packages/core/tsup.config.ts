import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // The entries share their code: one AgentError class for `instanceof`, whichever entry it comes from.
  splitting: true,
  entry: {
    index: "src/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
