import { copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { noExternal, packageBuild } from "../../tsup.base.ts";

export default packageBuild({
  entry: ["src/index.ts"],
  // One small module of it is used; bundled, the pack needs no package but core.
  noExternal: [...noExternal, "diff"],
  onSuccess: async () => {
    const license = new URL("../LICENSE", import.meta.resolve("diff"));
    await copyFile(fileURLToPath(license), "dist/third-party-licenses.txt");
  },
});
