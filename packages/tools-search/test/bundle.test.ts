import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { makeTree } from "./tree.js";

const here = new URL("..", import.meta.url).pathname;

const APP = `import { searchFilesTool, searchTextTool } from "@agent/tools-search";
  const root = process.argv[2];
  const calls = [
    searchTextTool().execute({ query: "const", paths: [root] }),
    searchTextTool().execute({ query: "^(\\\\w+ ?)+$", paths: [root], regex: true, glob: "*.ts" }),
    searchFilesTool().execute({ pattern: "**/*.ts", path: root }),
    searchTextTool().execute({ query: "(?=(x+)+$)y", paths: [root], regex: true }),
  ];
  Promise.all(calls).then((texts) => console.log(texts.join("\\n")));`;

test.each(["esm", "cjs"] as const)(
  "builds an esbuild bundle (%s) without a warning and runs it, threads included",
  async (format) => {
    const root = makeTree({ "app.js": APP, "tree/a.ts": "const a;\n", "tree/b/c.ts": "x\nconst b;\n" });
    const pack = join(root, "node_modules/@agent/tools-search");
    mkdirSync(join(pack, "node_modules"), { recursive: true });
    cpSync(join(here, "dist"), join(pack, "dist"), { recursive: true });
    cpSync(join(here, "package.json"), join(pack, "package.json"));
    symlinkSync(join(here, "node_modules/@agent"), join(pack, "node_modules/@agent"));
    const outfile = join(root, `out/app.${format === "esm" ? "mjs" : "cjs"}`);
    const { warnings } = await build({
      ...{ entryPoints: [join(root, "app.js")], outfile, bundle: true, platform: "node", format },
      logLevel: "silent",
    });
    expect(warnings).toEqual([]);
    const output = execFileSync(process.execPath, [outfile, join(root, "tree")], { encoding: "utf8" });
    expect(output.replaceAll(`${root}/`, "").split("\n")).toEqual([
      ...["tree/a.ts:1:const a;", "tree/b/c.ts:2:const b;", "[2 matching lines (2 files); 2 files searched]"],
      ...["tree/b/c.ts:1:x", "[1 matching line (1 file); 2 files searched]"],
      ...["tree/a.ts", "tree/b/c.ts", "[2 files]"],
      // Matched by a thread: without one it would be refused.
      ...['No matches for "(?=(x+)+$)y".', "[2 files searched]", ""],
    ]);
  },
);
