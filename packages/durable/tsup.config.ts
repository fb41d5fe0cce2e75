import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  splitting: true,
  entry: {
    index: "src/index.ts",
    otel: "src/otel.ts",
    bullmq: "src/bullmq/index.ts",
    testing: "src/testing/index.ts",
  },
});
