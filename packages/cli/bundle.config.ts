import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { type ManualChunkMeta, type Plugin, rollup } from "rollup";

const ROOT = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(ROOT, "src");

/**
 * Packages that become part of the command, so that the first prompt does not wait for them: every file that is opened
 * costs more than the code in it. A second copy of each beside a pack's own does no harm: they are functions, the
 * listeners of `onAbort` belong to a signal, and `isAgentError` recognises errors of any copy.
 */
const BUNDLED: Readonly<Record<string, string>> = {
  "@agent/internal": join(ROOT, "../internal/src/index.ts"),
  "@agent/core/toolkit": join(ROOT, "../core/src/toolkit/index.ts"),
  "get-east-asian-width": fileURLToPath(import.meta.resolve("get-east-asian-width")),
};

/**
 * What is loaded together is one file: all that these lead to at once. What the first leads to belongs to it alone; what
 * several others lead to is a file of its own.
 */
const FIRST = "first";
const CHUNKS: Readonly<Record<string, readonly string[]>> = {
  [FIRST]: ["chat/firstPrompt.ts"],
  chat: ["main.ts", "commands/chat.ts"],
  work: [
    "main.ts",
    "program.ts",
    "commands/run.ts",
    "run/runTask.ts",
    "assembly/assembleAgent.ts",
    "assembly/instructions.ts",
    "assembly/provider/select.ts",
  ],
};

/**
 * Builds the command as few large files. Opening, resolving and linking a file takes Node longer than reading the code
 * in it, and a start waits for each.
 */
export async function bundle(): Promise<void> {
  const dir = join(ROOT, "dist");
  await rm(dir, { recursive: true, force: true });
  const build = await rollup({
    input: { bin: join(SOURCE, "bin.ts"), config: join(SOURCE, "settings/config/index.ts") },
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
    manualChunks: chunks(),
  });
  await build.close();
  await writeFile(join(dir, "third-party-licenses.txt"), await licenses());
}

/** The licenses of what others wrote and is part of the command. They ask to be passed on with it. */
async function licenses(): Promise<string> {
  const texts = Object.entries(BUNDLED)
    .filter(([name]) => !name.startsWith("@agent/"))
    .map(async ([name, file]) => `${name}\n\n${await readFile(join(dirname(file), "license"), "utf8")}`);
  return (await Promise.all(texts)).join("\n\n");
}

/** Reads the sources as they are: TypeScript, with ".js" in the imports. All other packages stay imports. */
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
    const source = await readFile(file, "utf8");
    const { code, map } = await transform(source, {
      loader: file.endsWith(".ts") ? "ts" : "js",
      target: "node20",
      sourcefile: file,
      sourcemap: true,
      minifySyntax: true,
      minifyWhitespace: true,
    });
    return { code: pastIndexes(code), map };
  },
};

const NAMED_IMPORT = /\bimport\{([^}]*)\}from"([^"]+)";/g;
const NAMED_EXPORT = /\bexport \{([^}]*)\} from "([^"]+)";/g;

/**
 * Lets imports lead to the module itself instead of the index of its package. To Rollup a file that imports one
 * function from an index leads to everything behind it, and all of that would be put into the file of the first prompt.
 */
function pastIndexes(code: string): string {
  return code.replace(NAMED_IMPORT, (whole, names: string, specifier: string) => {
    const index = BUNDLED[specifier];
    if (index === undefined || !index.endsWith(".ts")) return whole;
    const modules = modulesOf(index);
    return names
      .split(",")
      .map((name) => {
        const module = modules.get(name.split(" as ")[0] ?? "");
        if (module === undefined) throw new Error(`${specifier} exports no ${name}`);
        return `import{${name}}from${JSON.stringify(module)};`;
      })
      .join("");
  });
}

/** The module behind each name of an index. */
function modulesOf(index: string): Map<string, string> {
  const modules = new Map<string, string>();
  for (const [, names = "", specifier = ""] of readFileSync(index, "utf8").matchAll(NAMED_EXPORT)) {
    const file = resolve(dirname(index), specifier.replace(/\.js$/, ".ts"));
    for (const name of names.split(",")) modules.set(name.trim(), file);
  }
  return modules;
}

function chunks(): (id: string, meta: ManualChunkMeta) => string | undefined {
  let closures: Map<string, Set<string>> | undefined;
  return (id, { getModuleInfo }) => {
    closures ??= new Map(
      Object.entries(CHUNKS).map(([name, entries]) => [
        name,
        closure(
          entries.map((entry) => join(SOURCE, entry)),
          (file) => getModuleInfo(file)?.importedIds ?? [],
        ),
      ]),
    );
    const names = [...closures].flatMap(([name, files]) => (files.has(id) ? [name] : []));
    if (names.includes(FIRST)) return FIRST;
    return names.length > 1 ? "common" : names[0];
  };
}

/** Everything these files import, directly or not, without what is loaded on demand. */
function closure(entries: readonly string[], imports: (file: string) => readonly string[]): Set<string> {
  const found = new Set(entries);
  for (const file of found) for (const next of imports(file)) found.add(next);
  return found;
}
