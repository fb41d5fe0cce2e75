import { copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { noExternal, packageBuild } from "../../tsup.base.ts";

/** The process of an isolated pack sees this file alone, so it imports no other. */
const runtime = packageBuild({
  entry: { packRuntime: "src/isolation/runtime.ts" },
  splitting: false,
  dts: false,
  clean: false,
});

const library = packageBuild({
  clean: ["!packRuntime.js"],
  // The toolkit publishes functions of this package: its types become part of ours.
  dts: { compilerOptions: { paths: { "@agent/internal": ["../internal/src/index.ts"] } } },
  entry: {
    host: "src/host.ts",
    index: "src/index.ts",
    isolation: "src/isolation/index.ts",
    otel: "src/otel.ts",
    provider: "src/providers/index.ts",
    replay: "src/providers/replay.ts",
    sandbox: "src/sandbox/index.ts",
    toolkit: "src/toolkit/index.ts",
  },
  // No module here does anything when it is imported. esbuild keeps imports of chunks of which nothing is used, and the
  // bundlers of users warn about those.
  treeshake: { moduleSideEffects: "no-external" },
  // One small module of it is used; bundled, core needs no other package.
  noExternal: [...noExternal, "diff"],
  onSuccess: async () => {
    const license = new URL("../LICENSE", import.meta.resolve("diff"));
    await copyFile(fileURLToPath(license), "dist/third-party-licenses.txt");
  },
});

export default [library, runtime];
