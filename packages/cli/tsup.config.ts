import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: { bin: "src/bin.ts", config: "src/settings/config/index.ts" },
  // The command itself has no importers, so only the sub-path needs types.
  dts: { entry: { config: "src/settings/config/index.ts" } },
});
