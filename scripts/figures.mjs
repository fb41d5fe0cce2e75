// Prints the figures that docs/contributing quotes: how many files a reader has to open. `--list` adds the files of
// each figure.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { countMessageFiles } from "./messagePath.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const IMPORT =
  /^\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']/gm;
const PACK = /^packages\/(?:tools|preset)-/;

const sources = execFileSync("git", ["ls-files", "packages/*/src/*"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));

/** The files that import each file, and the files that are loaded only when they are needed. */
function readImports() {
  const importers = new Map(sources.map(({ file }) => [file, new Set()]));
  const lazy = new Set();
  for (const { file, text } of sources) {
    for (const [, specifier, loaded] of text.matchAll(IMPORT)) {
      const path = join(dirname(file), specifier ?? loaded).replace(/\.js$/, "");
      const target = [`${path}.ts`, `${path}.tsx`].find((one) => importers.has(one));
      if (target === undefined) continue;
      importers.get(target).add(file);
      if (loaded !== undefined) lazy.add(target);
    }
  }
  return { importers, lazy };
}

const { importers, lazy } = readImports();
const single = [...importers]
  .filter(([file, from]) => from.size === 1 && dirname([...from][0]) === dirname(file) && !lazy.has(file))
  .map(([file, from]) => `${file} ← ${[...from][0]}`);

const folders = new Map();
for (const { file } of sources) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
const [largest] = [...folders].sort(([, a], [, b]) => b - a);

const named = execFileSync("node", ["scripts/toolNames.mjs", "--count"], { cwd: ROOT, encoding: "utf8" });
const withInternal = sources
  .filter(({ file, text }) => PACK.test(file) && /from "@agent\/internal"/.test(text))
  .map(({ file }) => file);

const lines = sources.map(({ text }) => text.split("\n").length - 1).sort((a, b) => a - b);

const message = await countMessageFiles().catch(({ message: reason }) => `not measured: ${reason}`);
const counted = (files) =>
  typeof message === "string" ? [message] : [message[files].length, message[files]];

const figures = [
  ["source files", sources.length],
  ["lines per file, median", lines[lines.length >> 1]],
  ["files with one importer, in the same folder, not loaded lazily", single.length, single],
  ["files a chat message passes, keyboard to tool and back", ...counted("passed")],
  ["files with code that runs for a chat message, helpers included", ...counted("run")],
  ["largest folder", `${largest[1]} files (${largest[0]})`],
  ["lines of host code that name built-in tools", named.trim()],
  ["pack files that import `@agent/internal`", withInternal.length, withInternal],
];

console.log("| figure | value |\n|---|---|");
for (const [name, value, files] of figures) {
  console.log(`| ${name} | ${value} |`);
  if (process.argv.includes("--list")) for (const file of files ?? []) console.log(`  ${file}`);
}
