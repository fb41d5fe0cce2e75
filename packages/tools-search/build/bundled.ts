import { dirname, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { watPlugin } from "./wat.ts";

const SUFFIX = "?bundled";

/** Bundles a file and all its imports into the text of one CommonJS program. */
async function bundle(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20",
    // Keep names, so that stack traces are readable.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    plugins: [watPlugin],
  });
  return outputFiles.map((file) => file.text).join("");
}

/** For the build: resolves `import("./x.ts?bundled")` to the text of a program. */
export const bundledPlugin: Plugin = {
  name: "bundled",
  setup(build) {
    build.onResolve({ filter: /\?bundled$/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path.slice(0, -SUFFIX.length)),
      namespace: "bundled",
    }));
    build.onLoad({ filter: /.*/, namespace: "bundled" }, async ({ path }) => ({
      contents: await bundle(path),
      loader: "text",
    }));
  },
};

/** The same for tests, which load the sources. */
export const bundledTestPlugin = {
  name: "bundled",
  // Runs before the TypeScript transform, which would treat it as a TypeScript file.
  enforce: "pre" as const,
  async load(id: string): Promise<string | undefined> {
    if (!id.endsWith(SUFFIX)) return undefined;
    return `export default ${JSON.stringify(await bundle(id.slice(0, -SUFFIX.length)))};`;
  },
};
