import { noExternal, packageBuild } from "../../tsup.base.ts";

export default [
  // The pack itself is one file without imports, which is all that the start of an agent loads: finding and loading
  // another package takes longer than the few functions of the toolkit. The code that communicates with servers is
  // loaded with the first call.
  packageBuild({
    entry: ["src/index.ts"],
    external: ["./connections.js"],
    noExternal: [...noExternal, "@agent/core/toolkit"],
    splitting: false,
    clean: false,
  }),
  packageBuild({
    entry: ["src/connections.ts", "src/manage/index.ts", "src/server/index.ts"],
    dts: { entry: ["src/manage/index.ts", "src/server/index.ts"] },
    // All but what the other build writes at the same time.
    clean: ["!index.*"],
  }),
];
