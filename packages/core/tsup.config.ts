import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // Each entry whole: every further file costs a millisecond at import, more than the shared code weighs.
  splitting: false,
  entry: {
    index: "src/index.ts",
    openai: "src/providers/openai.ts",
    replay: "src/providers/replay.ts",
    toolkit: "src/toolkit/index.ts",
  },
});
