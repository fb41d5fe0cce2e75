import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundleCommonJs, type Plugin as EsbuildPlugin, transform } from "esbuild";
import { type OutputChunk, type Plugin, type RollupBuild, rollup } from "rollup";

const ROOT = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(ROOT, "src");

const ENTRIES: Readonly<Record<string, string>> = {
  bin: join(SOURCE, "bin.ts"),
  config: join(SOURCE, "settings/config/index.ts"),
};

/**
 * Packages that are bundled into the command, so that the first prompt does not wait for them: opening a file costs
 * more than running its code. A second copy next to a pack's own does no harm: they are functions, the listeners of
 * `onAbort` belong to a signal, and `isAgentError` recognises errors of any copy.
 */
const BUNDLED: Readonly<Record<string, string>> = {
  "@agent/internal": join(ROOT, "../internal/src/index.ts"),
  "@agent/core/toolkit": join(ROOT, "../core/src/toolkit/index.ts"),
  "@agent/core/host": join(ROOT, "../core/src/host.ts"),
  "@agent/terminal/host": join(ROOT, "../terminal/src/host.ts"),
  "get-east-asian-width": fileURLToPath(import.meta.resolve("get-east-asian-width")),
  commander: fileURLToPath(import.meta.resolve("commander")),
  "diff/lib/diff/array.js": fileURLToPath(import.meta.resolve("diff/lib/diff/array.js")),
};

/** Bundled packages that are CommonJS, with the names the command imports: Rollup reads only ES modules. */
const COMMON_JS: Readonly<Record<string, readonly string[]>> = {
  [BUNDLED.commander ?? ""]: ["Command", "CommanderError"],
};

/**
 * Entries whose static imports are bundled into one file. The imports of the first belong to it alone; imports that
 * several others share are in a separate file.
 */
const FIRST = "first";
const CHUNKS: Readonly<Record<string, readonly string[]>> = {
  [FIRST]: ["../../terminal/src/screen/firstPrompt.ts"],
  chat: ["main.ts", "commands/chat.ts"],
  work: [
    "main.ts",
    "program.ts",
    "commands/run.ts",
    "run/runTask.ts",
    "assembly/assembleAgent.ts",
    "instructions/instructions.ts",
    "assembly/provider/select.ts",
  ],
};

/**
 * Builds the command as a few large files. Opening, resolving and linking a file takes Node longer than reading its
 * code, and a start waits for each.
 */
export async function bundle(): Promise<void> {
  const dir = join(ROOT, "dist");
  await rm(dir, { recursive: true, force: true });
  const build = await rollup({
    input: ENTRIES,
    plugins: [typescript],
    treeshake: { moduleSideEffects: false },
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  await build.write({
    dir,
    format: "es",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    manualChunks: await chunks(build),
    onlyExplicitManualChunks: true,
  });
  await build.close();
  await writeFile(join(dir, "third-party-licenses.txt"), await licenses());
}

/** The licenses of bundled third-party code, which must be distributed with it. */
async function licenses(): Promise<string> {
  const texts = Object.entries(BUNDLED)
    .filter(([name]) => !name.startsWith("@agent/"))
    .map(async ([name, file]) => `${name}\n\n${await readLicense(dirname(file))}`);
  return (await Promise.all(texts)).join("\n\n");
}

async function readLicense(directory: string): Promise<string> {
  const entries = await readdir(directory);
  const name = entries.find((entry) => entry.toLowerCase() === "license");
  if (name === undefined) {
    // The root of a package has a name and a license; a folder inside it may have a package.json too.
    if (basename(directory) !== "node_modules") return await readLicense(dirname(directory));
    throw new Error(`A bundled package in ${directory} has no license to pass on.`);
  }
  return await readFile(join(directory, name), "utf8");
}

/** Loads the TypeScript sources, whose imports end in ".js". All other packages stay imports. */
const typescript: Plugin = {
  name: "typescript",
  resolveId(specifier, importer) {
    const bundled = BUNDLED[specifier];
    if (bundled !== undefined) return bundled;
    if (importer === undefined) return specifier;
    if (specifier.startsWith("/")) return specifier;
    if (!specifier.startsWith(".")) return { id: specifier, external: true, moduleSideEffects: false };
    const file = resolve(dirname(importer), specifier);
    return importer.endsWith(".ts") ? file.replace(/\.js$/, ".ts") : file;
  },
  async load(file) {
    const names = COMMON_JS[file];
    if (names) return await asEsModule(file, names);
    const source = await readFile(file, "utf8");
    const { code, map } = await transform(source, {
      loader: file.endsWith(".ts") ? "ts" : "js",
      target: "node20",
      sourcefile: file,
      sourcemap: true,
      minifySyntax: true,
      minifyWhitespace: true,
    });
    return { code, map };
  },
};

/** Converts a CommonJS package to one ES module with these exports. */
async function asEsModule(file: string, names: readonly string[]): Promise<string> {
  const contents = `export { ${names.join(", ")} } from ${JSON.stringify(file)};`;
  const { outputFiles } = await bundleCommonJs({
    stdin: { contents, resolveDir: dirname(file) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [requiredBuiltins],
  });
  return outputFiles[0]?.text ?? "";
}

/** An ES module has no `require`, so Node's modules are taken from `process`. */
const requiredBuiltins: EsbuildPlugin = {
  name: "required-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "required-builtin" }));
    onLoad({ filter: /.*/, namespace: "required-builtin" }, ({ path }) => {
      const taken = `process.getBuiltinModule(${JSON.stringify(path)})`;
      // The parser starts a program only for executable subcommands, which we do not have; loading this takes Node 3
      // ms.
      const isUnused = path === "node:child_process";
      return {
        contents: `module.exports = ${isUnused ? `{ get spawn() { return ${taken}.spawn } }` : taken};`,
      };
    });
  },
};

/**
 * Assigns modules to the files of `CHUNKS`. The modules of a file are derived from the chunks that Rollup creates by
 * itself: it follows names through an index, so that one function of a package does not include the whole package.
 */
async function chunks(build: RollupBuild): Promise<(id: string) => string | undefined> {
  const { output } = await build.generate({ format: "es" });
  const made = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file]] : [])));
  const groups = Object.entries(CHUNKS).map(([name, entries]) => {
    const modules = entries.map((entry) => join(SOURCE, entry));
    const files = [...made.values()].filter((chunk) => chunk.moduleIds.some((id) => modules.includes(id)));
    return { name, modules: new Set([...reachable(files, made)].flatMap((chunk) => chunk.moduleIds)) };
  });
  return (id) => {
    // No other file imports an entry: `bin` is still waiting when they are loaded.
    if (Object.values(ENTRIES).includes(id)) return undefined;
    const names = groups.flatMap(({ name, modules }) => (modules.has(id) ? [name] : []));
    if (names.includes(FIRST)) return FIRST;
    return names.length > 1 ? "common" : names[0];
  };
}

/** These chunks and everything they import, directly or not, except dynamic imports. */
function reachable(chunks: readonly OutputChunk[], made: ReadonlyMap<string, OutputChunk>): Set<OutputChunk> {
  const found = new Set(chunks);
  for (const { imports } of found) {
    for (const file of imports) {
      const chunk = made.get(file);
      if (chunk) found.add(chunk);
    }
  }
  return found;
}
