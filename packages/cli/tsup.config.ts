import { writeFile } from "node:fs/promises";
import { packageBuild } from "../../tsup.base.ts";
import { bundle } from "./bundle.config.ts";
import { CONFIG_SCHEMA } from "./src/settings/config/schema.ts";

// Rollup builds the code; this builds the types. The command itself has no importers, so only the sub-path needs them.
await bundle();
await writeFile("dist/config.schema.json", `${JSON.stringify(CONFIG_SCHEMA, null, 2)}\n`);

export default packageBuild({
  entry: { config: "src/settings/config/index.ts" },
  dts: { only: true },
  clean: false,
});
