import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  // What the tools do is a file of its own, loaded by the first call. It shares a few lines with the rest, and has
  // them twice: to load a third file with every import would cost more.
  entry: ["src/index.ts", "src/actions.ts"],
  external: ["./actions.js"],
  splitting: false,
  dts: { entry: "src/index.ts" },
});
