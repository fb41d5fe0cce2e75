import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import loadWabt from "wabt";

/** Assembles a WebAssembly text file. Throws with the line of an error. */
async function assemble(path: string): Promise<Uint8Array> {
  const wabt = await loadWabt();
  const module = wabt.parseWat(path, await readFile(path, "utf8"), { simd: true });
  try {
    module.validate();
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** For the build: resolves `import bytes from "./x.wat"` to the assembled module. */
export const watPlugin: Plugin = {
  name: "wat",
  setup(build) {
    build.onLoad({ filter: /\.wat$/ }, async ({ path }) => ({
      contents: await assemble(path),
      loader: "binary",
    }));
  },
};

/** The same for tests, which load the sources. */
export const watTestPlugin = {
  name: "wat",
  async load(id: string): Promise<string | undefined> {
    if (!id.endsWith(".wat")) return undefined;
    const base64 = Buffer.from(await assemble(id)).toString("base64");
    return `export default Uint8Array.from(Buffer.from("${base64}", "base64"));`;
  },
};
