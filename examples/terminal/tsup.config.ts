import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: ["src/main.ts"],
  dts: false,
});
