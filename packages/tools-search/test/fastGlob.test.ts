import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { searchFilesTool } from "../src/index.js";
import { makeTree, randomNumbers, run } from "./tree.js";

const NAMES = [
  "a",
  "b",
  "ab",
  "abc",
  ".x",
  "a.ts",
  "b.ts",
  "ab.js",
  "index.ts",
  "[a]",
  "a b",
  "É.ts",
  "foo.test.ts",
  "(x)",
];
const PARTS = [
  "*",
  "**",
  "?",
  "a",
  "b",
  "ab",
  "*.ts",
  "*.{ts,js}",
  "[ab]",
  "[!a]*",
  "{a,b}",
  "{a,b/c}",
  "@(a|ab)",
  "!(a)",
  "+(a|b)",
  "*(b)c",
  ".*",
  "**.ts",
  "a*",
  "{1..3}",
  "\\[a\\]",
  "[[]a]",
  "..",
  ".",
  "?(a)b*",
  "!(*.ts)",
  "**/*",
  "[a-c]*",
  "É*",
];
const WHOLE = [
  "**/*.ts",
  "**",
  "*",
  "**/a/**",
  "a/**/b",
  "./a/*",
  "a//b",
  "{a,b,ab}/**/*.{ts,js}",
  "**/{a,b}.ts",
  "a.ts",
  "./a.ts",
  "**/!(*.test).ts",
  "{**/a,b/**}/*.ts",
  "{a,}/*.ts",
  "a/../*.ts",
  "../**/a.ts",
];

/** Deep enough for patterns that begin with "..". */
const BASE = "p/q/r/s/base";

test("finds with search_files exactly what fast-glob finds, over random trees and patterns", async () => {
  const random = randomNumbers(2024);
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
  const tool = searchFilesTool({ maxResults: 100_000 });
  let found = 0;
  for (let round = 0; round < 25; round++) {
    const root = join(makeTree(randomFiles(random, pick)), BASE);
    const patterns = [
      ...WHOLE,
      ...Array.from({ length: 60 }, () => Array.from({ length: 1 + random(3) }, () => pick(PARTS)).join("/")),
    ];
    for (const pattern of patterns) {
      const expected = await reference(pattern, root);
      const { lines, account } = await run(tool, root, { pattern, path: root, include_ignored: true });
      const ours = account.startsWith("[0 files") ? [] : lines;
      expect({ pattern, paths: [...ours].sort() }).toEqual({
        pattern,
        paths: expected.map((path) => shown(path, root)).sort(),
      });
      found += expected.length;
    }
  }
  // The comparison is worth something only if there was something to find.
  expect(found).toBeGreaterThan(5000);
});

/** What fast-glob finds, also where a pattern looks into a file as if it were a directory. */
function reference(pattern: string, cwd: string): Promise<string[]> {
  return fastGlob(pattern, { cwd, dot: true, followSymbolicLinks: false, suppressErrors: true });
}

/** fast-glob keeps "./" and "a/.." as they are; we show paths tidied up. */
function shown(path: string, root: string): string {
  const absolute = join(root, path);
  return absolute.startsWith(`${root}/`) ? absolute.slice(root.length + 1) : absolute;
}

function randomFiles(
  random: (below: number) => number,
  pick: <Value>(values: readonly Value[]) => Value,
): Record<string, string> {
  const files: Record<string, string> = { [`${BASE}/a.ts`]: "", "p/q/outside/a.ts": "" };
  const taken = new Set(Object.keys(files));
  for (let i = 0; i < 60; i++) {
    const parts = [BASE, ...Array.from({ length: 1 + random(4) }, () => pick(NAMES))];
    const path = parts.join("/");
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
    // A name cannot be a file and a directory at the same time.
    if (
      prefixes.some((prefix) => prefix in files) ||
      [...taken].some((other) => other.startsWith(`${path}/`))
    )
      continue;
    files[path] = "";
    taken.add(path);
  }
  return files;
}

test("links are left alone as fast-glob does when told not to follow them", async () => {
  const root = makeTree({ "real/a.ts": "", "b.ts": "" });
  symlinkSync(join(root, "real"), join(root, "link"));
  symlinkSync(join(root, "b.ts"), join(root, "c.ts"));
  for (const pattern of ["**/*.ts", "link/*.ts", "c.ts", "*"]) {
    const expected = await fastGlob(pattern, { cwd: root, dot: true, followSymbolicLinks: false });
    const { lines, account } = await run(searchFilesTool(), root, { pattern, path: root });
    expect(account.startsWith("[0 files") ? [] : lines).toEqual(expected.sort());
  }
});
