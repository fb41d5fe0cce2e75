import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: ["src/index.ts"],
  // What runs a command is a file of its own, which the first command loads.
  splitting: true,
});
