import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: { bin: "src/bin.ts", config: "src/config/index.ts" },
});
