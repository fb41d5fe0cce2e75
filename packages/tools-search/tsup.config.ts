import { isBuiltin } from "node:module";
import type { Plugin } from "esbuild";
import { noExternal, packageBuild } from "../../tsup.base.ts";
import { bundledPlugin } from "./build/bundled.ts";
import { watPlugin } from "./build/wat.ts";

/**
 * The glob libraries are CommonJS and load Node's modules with `require`, which ES modules do not have: unbundled that
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
  entry: ["src/index.ts"],
  noExternal: [...noExternal, "@eslint-community/regexpp", "fast-glob", "micromatch"],
  esbuildPlugins: [requiredBuiltins, watPlugin, bundledPlugin],
  // Code that only a search without threads needs is in a separate file.
  splitting: true,
});
