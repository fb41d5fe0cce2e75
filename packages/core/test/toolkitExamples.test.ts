import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import * as toolkit from "../src/toolkit/index.js";
import { temporaryDirectory } from "./fixtures.js";

const SOURCES = fileURLToPath(new URL("../src", import.meta.url));
const TOOLKIT = join(SOURCES, "toolkit");
/** Most helpers are defined, with their documentation, in the private package that all packages share. */
const FOLDERS = [TOOLKIT, fileURLToPath(new URL("../../internal/src", import.meta.url))];
const DOCUMENTED = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:async )?(?:function|const|class) (\w+)/g;
const EXAMPLE = /@example\n \* ```ts\n([\s\S]*?)\n \* ```/;
const PRINTED = /console\.log\(.*\); \/\/ (.*)$/gm;

/** The example in the doc comment of each function and constant, by name. */
function examples(): Map<string, string> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
  );
  const found = new Map<string, string>();
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    for (const [, comment = "", name = ""] of readFileSync(file, "utf8").matchAll(DOCUMENTED)) {
      const [, code] = EXAMPLE.exec(comment) ?? [];
      if (code !== undefined) found.set(name, code.replaceAll(/^ \* ?/gm, ""));
    }
  }
  return found;
}

test.each(Object.keys(toolkit))(
  "has an example of %s, which prints the documented output in an empty directory",
  async (name) => {
    const code = examples().get(name) ?? expect.unreachable(`${name} has no @example`);
    const expected = Array.from(code.matchAll(PRINTED), ([, text]) => text);
    expect(expected).not.toEqual([]);
    const directory = temporaryDirectory();
    const program = join(temporaryDirectory(), "example.mjs");
    await build({
      stdin: { contents: code, loader: "ts", resolveDir: SOURCES },
      alias: { "@agent/core": join(SOURCES, "index.ts"), "@agent/core/toolkit": join(TOOLKIT, "index.ts") },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      logLevel: "silent",
    });
    const printed = execFileSync(process.execPath, [program], { cwd: directory, encoding: "utf8" });
    expect(printed.trimEnd().split("\n")).toEqual(expected);
  },
);
