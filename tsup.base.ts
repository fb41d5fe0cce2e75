import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Options } from "tsup";

const BUILTIN_IMPORT = /^import (?:(.+) from )?'(node:[^']+)';$/gm;

/** One build for every package: ESM for Node 20, with types and source maps beside it. */
export function packageBuild(options: Options): ReturnType<typeof defineConfig> {
  return defineConfig({
    format: ["esm"],
    target: "node20",
    platform: "node",
    dts: true,
    sourcemap: true,
    clean: true,
    treeshake: true,
    removeNodeProtocol: false,
    plugins: [
      {
        name: "plain-builtins",
        buildEnd({ writtenFiles }) {
          for (const { name } of writtenFiles) if (name.endsWith(".js")) plainBuiltins(name);
        },
      },
    ],
    ...options,
  });
}

/**
 * Takes Node's own modules without `import`, which reads every export of one and so runs what it would load only
 * when asked: `import … from "node:fs"` alone loads all of streams, two milliseconds for a program that may
 * never read a file. Each import is one line and stays one, so the source map stays true.
 */
function plainBuiltins(file: string): void {
  const code = readFileSync(file, "utf8");
  const plain = code.replace(
    BUILTIN_IMPORT,
    (_, names: string | undefined, module: string) =>
      // One that is imported for its effect is still loaded: node:worker_threads changes process.chdir, for one.
      `${names === undefined ? "" : `const ${pattern(names)} = `}process.getBuiltinModule('${module}');`,
  );
  if (plain !== code) writeFileSync(file, plain);
}

/** `{ a, b as c }` as a pattern: `{ a, b: c }`. The module itself stands for its default and its namespace. */
function pattern(names: string): string {
  if (names.startsWith("{") && !names.includes("default as ")) return names.replaceAll(" as ", ": ");
  const whole = /^(?:\* as )?(\w+)$/.exec(names)?.[1];
  if (whole === undefined) throw new Error(`tsup.base.ts: cannot take "${names}" from a module of Node.`);
  return whole;
}
