import { isBuiltin } from "node:module";
import type { Plugin } from "esbuild";
import { packageBuild } from "../../tsup.base.ts";
import { watPlugin } from "./build/wat.ts";

/**
 * The glob libraries are CommonJS and ask for Node's modules with `require`, which no ES module has: unbundled that
 * works, but a program that bundles this package into an ES module would fail in its first call. So they are bundled
 * here, with Node's modules taken from `process`.
 */
const requiredBuiltins: Plugin = {
  name: "required-builtins",
  setup(build) {
    build.onResolve({ filter: /^[a-z_:]+$/ }, ({ kind, path }) =>
      kind === "require-call" && isBuiltin(path) ? { path, namespace: "required-builtin" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

export default packageBuild({
  // The worker is a file of its own: threads start from it.
  entry: { index: "src/index.ts", "agent-search-worker": "src/worker/agent-search-worker.ts" },
  noExternal: ["@eslint-community/regexpp", "fast-glob", "micromatch"],
  esbuildPlugins: [requiredBuiltins, watPlugin],
  splitting: true,
  dts: { entry: "src/index.ts" },
});
