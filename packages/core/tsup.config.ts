import { rmSync } from "node:fs";
import { basename } from "node:path";
import type { Options } from "tsup";
import { packageBuild } from "../../tsup.base.ts";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Entries that only name what they export. */
const LISTS = { index: "src/index.ts", provider: "src/providers/index.ts", toolkit: "src/toolkit/index.ts" };

/**
 * Takes what the entries above export from `core.js`, and the error class everywhere, so that `instanceof` works
 * whichever entry it comes from.
 */
const shareCode: Plugin = {
  name: "share-code",
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ path, importer }) => {
      const isListed = Object.values(LISTS).some((entry) => importer.endsWith(`/core/${entry}`));
      return isListed || basename(path) === "errors.js" ? { path: "./core.js", external: true } : undefined;
    });
  },
};

// Both builds write into it, side by side, so neither may empty it.
rmSync(new URL("dist", import.meta.url), { recursive: true, force: true });

export default [
  packageBuild({ entry: { core: "src/all.ts" }, dts: false, clean: false }),
  packageBuild({
    entry: { ...LISTS, otel: "src/otel.ts", replay: "src/providers/replay.ts" },
    clean: false,
    esbuildPlugins: [shareCode],
  }),
];
