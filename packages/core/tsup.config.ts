import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: {
    index: "src/index.ts",
    openai: "src/providers/openai.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
