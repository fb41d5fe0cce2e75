import { writeFile } from "node:fs/promises";
import { packageBuild } from "../../tsup.base.ts";
import { CONFIG_SCHEMA } from "./src/settings/config/schema.ts";

export default packageBuild({
  entry: { bin: "src/bin.ts", config: "src/settings/config/index.ts" },
  // The command itself has no importers, so only the sub-path needs types.
  dts: { entry: { config: "src/settings/config/index.ts" } },
  onSuccess: async () => {
    await writeFile("dist/config.schema.json", `${JSON.stringify(CONFIG_SCHEMA, null, 2)}\n`);
  },
});
