import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { searchFiles } from "../src/host/fileSearch.js";
import { Pool } from "../src/host/pool/pool.js";
import { openLocalExecutor } from "../src/host/pool/shared.js";
import { searchFilesTool } from "../src/index.js";
import { makeTree, randomNumbers, run } from "./tree.js";

/** search_files divides a walk among the workers once there is enough of it. */

const NAMES = ["a", "b", "b.d", "b!", "build", "É", "src", "x y", ".hidden"];
const RULES = ["*.md", "build/", "!keep.md", "/src/*.ts", "b/**/f1*", "f2.ts", "!f2.ts"];

/** Files in directories of all sizes, about 18 for each, with ignore files all over the tree. */
function makeLargeTree(seed: number, directories = 80): string {
  const random = randomNumbers(seed);
  const files: Record<string, string> = { ".git/info/exclude": "f3.ts\n", "keep.md": "" };
  for (let directory = 0; directory < directories; directory++) {
    const depth = 1 + random(5);
    const path = Array.from({ length: depth }, () => NAMES[random(NAMES.length)]).join("/");
    const size = random(12) === 0 ? 150 : random(12);
    for (let file = 0; file < size; file++) files[`${path}/f${file}.${["ts", "md", "js"][random(3)]}`] = "";
    if (random(4) === 0) files[`${path}/.gitignore`] = `${RULES[random(RULES.length)]}\n`;
    if (random(12) === 0) files[`${path}/.ignore`] = `${RULES[random(RULES.length)]}\n`;
    if (random(25) === 0) files[`${path}/.git/config`] = "";
  }
  const root = makeTree(files);
  symlinkSync(root, join(root, "link"));
  return root;
}

test("gives the same answer, to the letter, whatever the number of workers", async () => {
  const root = makeLargeTree(7, 300);
  const patterns = ["**", "**/*.ts", "a/**", "{a,b}/**/*.js"];
  for (const pattern of patterns) {
    for (const rest of [{}, { max_results: 3 }, { max_results: 100_000 }]) {
      for (const include_ignored of [false, true]) {
        const args = { pattern, path: root, include_ignored, ...rest };
        const [alone, ...others] = await Promise.all(
          [0, 2, 3].map((workers) => searchFilesTool({ workers }).execute(args)),
        );
        for (const other of others) expect({ args, answer: other }).toEqual({ args, answer: alone });
      }
    }
  }
});

test("finds what fast-glob finds in a divided walk, in path order", async () => {
  for (const seed of [1, 2]) {
    const root = makeLargeTree(seed);
    for (const pattern of ["**/*", "**/b/**", "a/**/*.ts", "*/*/*", "**/{f1,f2}.*"]) {
      const expected = await fastGlob(pattern, { cwd: root, dot: true, followSymbolicLinks: false });
      expect(expected.length).toBeGreaterThan(10);
      const args = { pattern, path: root, include_ignored: true, max_results: 100_000 };
      expect((await run(searchFilesTool({ workers: 2 }), root, args)).lines).toEqual(expected.sort());
    }
  }
});

test("uses all workers for a large walk, and one for a small one", async () => {
  const tasks = await tasksPerLane(makeLargeTree(9));
  expect(tasks).toHaveLength(2);
  for (const count of tasks) expect(count).toBeGreaterThan(0);
  const ofSmallTree = await tasksPerLane(makeTree({ "a/b.ts": "", "c/d/e.ts": "" }));
  expect(ofSmallTree.filter((count) => count > 0)).toEqual([1]);
});

/** How many tasks each executor of a pool of two was given for one search. */
async function tasksPerLane(root: string): Promise<number[]> {
  const counts: number[] = [];
  const open = (events: Parameters<typeof openLocalExecutor>[1]) => {
    const executor = openLocalExecutor(true, events);
    const index = counts.push(0) - 1;
    return {
      ...executor,
      start: (order: Parameters<typeof executor.start>[0]) => {
        counts[index] = (counts[index] ?? 0) + 1;
        executor.start(order);
      },
    };
  };
  const scope = { cwd: root, root: undefined, secret: [], granted: [], includeIgnored: true };
  const query = { scope, path: ".", pattern: "**", order: "path", limit: 10, maxCharacters: 1000 } as const;
  await searchFiles(new Pool(2, open, open), query, { timeoutMs: 60_000 });
  return counts;
}
