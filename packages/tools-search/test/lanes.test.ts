import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openLocalLane } from "../src/pool/localLane.js";
import { Pool } from "../src/pool/pool.js";
import { sharedPool } from "../src/pool/shared.js";
import { findWorkerFile, openThreadLane } from "../src/pool/threadLane.js";
import { formatTextResult } from "../src/report.js";
import { searchText } from "../src/search.js";
import { makeTree } from "./tree.js";

const here = new URL("..", import.meta.url).pathname;

const QUERIES = [
  { text: "const", regex: false, ignoreCase: false },
  { text: "CONST", regex: false, ignoreCase: true },
  { text: "é", regex: false, ignoreCase: true },
  { text: "(import|export) \\w+", regex: true, ignoreCase: false },
  { text: "^\\s*$", regex: true, ignoreCase: false },
  { text: "(?<=const )\\w+", regex: true, ignoreCase: true },
  { text: "[a-z]{12,}", regex: true, ignoreCase: false },
];

/** The whole answer for a query, from a pool. */
async function answer(pool: Pool, query: (typeof QUERIES)[number], context: number): Promise<string> {
  const result = await searchText(
    pool,
    {
      query: { ...query, mode: "lines", context, maxLineLength: 200, maxCharacters: 200_000 },
      walk: {
        kind: "walk",
        scope: { cwd: here, root: undefined, secret: [], granted: [], includeIgnored: true },
        paths: ["src", "test", "package.json", "README.md"],
        glob: "!*.map",
      },
      maxResults: 300,
    },
    { timeoutMs: 60_000 },
  );
  return formatTextResult(result, {
    mode: "lines",
    text: query.text,
    maxCharacters: 200_000,
    timeoutMs: 60_000,
  });
}

describe("with and without threads and WebAssembly", () => {
  test.each(QUERIES)("$text gives the same answer", async (query) => {
    for (const context of [0, 2]) {
      const threads = await answer(sharedPool({ workers: 2 }), query, context);
      expect(threads).toContain("matching line");
      expect(await answer(sharedPool({ workers: 1, simd: false }), query, context)).toBe(threads);
      expect(await answer(sharedPool({ workers: 0 }), query, context)).toBe(threads);
      expect(await answer(sharedPool({ workers: 0, simd: false }), query, context)).toBe(threads);
    }
  });

  test("the worker is really there to be compared with", () => {
    expect(findWorkerFile()).toMatch(/dist\/agent-search-worker\.js$/);
  });

  test("a worker that does not start is replaced by the host's own thread", async () => {
    const local = (events: Parameters<typeof openLocalLane>[1]) => openLocalLane(true, events);
    const broken = join(makeTree({ "broken.mjs": "throw new Error('no');\n" }), "broken.mjs");
    const pool = new Pool(2, (events) => openThreadLane(broken, true, events), local);
    const query = { text: "const", regex: false, ignoreCase: false };
    expect(await answer(pool, query, 0)).toBe(await answer(sharedPool({ workers: 2 }), query, 0));
  });

  test("a worker that ends by itself fails its search with the reason, and the next one has a new worker", async () => {
    const fragile = join(
      makeTree({
        "fragile.mjs": `import { parentPort } from "node:worker_threads";
          parentPort.on("message", () => process.exit(3));
          parentPort.postMessage({ id: 0, done: true });`,
      }),
      "fragile.mjs",
    );
    const workers = [fragile, findWorkerFile() ?? ""];
    const pool = new Pool(
      1,
      (events) => openThreadLane(workers.shift() ?? "", true, events),
      (events) => openLocalLane(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    await expect(answer(pool, query, 0)).rejects.toThrow(/broke off: .*exit code 3/);
    expect(await answer(pool, query, 0)).toBe(await answer(sharedPool({ workers: 2 }), query, 0));
    expect(workers).toEqual([]);
    pool.close();
  });

  test("workers that do not start are done without, and tried again a few times", async () => {
    let starts = 0;
    let broken = join(makeTree({ "broken.mjs": "throw new Error('not now');" }), "broken.mjs");
    const pool = new Pool(
      1,
      (events) => {
        starts++;
        if (starts === 2) throw new Error("no thread to be had");
        return openThreadLane(broken, true, events);
      },
      (events) => openLocalLane(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    const expected = await answer(sharedPool({ workers: 2 }), query, 0);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(starts).toBe(2);
    broken = findWorkerFile() ?? "";
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(starts).toBe(3);
    pool.close();
  });

  test("a worker that dies in the middle is an error for that search only", async () => {
    const file = findWorkerFile() ?? "";
    const lanes: { close(): void }[] = [];
    const pool = new Pool(
      1,
      (events) => {
        const lane = openThreadLane(file, true, {
          message: (message) => events.message(message),
          died: (error) => events.died(error),
        });
        lanes.push({ close: () => events.died(new Error("killed by the test")) });
        return lane;
      },
      (events) => openLocalLane(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    const expected = await answer(pool, query, 0);
    const interrupted = answer(pool, query, 0);
    lanes[0]?.close();
    await expect(interrupted).rejects.toThrow(/killed by the test/);
    expect(await answer(pool, query, 0)).toBe(expected);
    pool.close();
  });
});

test("in a bundle, where the worker's file is missing, the tools give the same answers", () => {
  const root = makeTree({
    "app.js": `import { SearchFilesTool, SearchTextTool } from ${JSON.stringify(join(here, "dist/index.js"))};
      const root = process.argv[2];
      const answers = [
        new SearchTextTool().execute({ query: "const", paths: [root] }),
        new SearchFilesTool().execute({ pattern: "**/*.ts", path: root }),
      ];
      Promise.all(answers).then((texts) => console.log(texts.join("\\n")));`,
    "tsup.config.mjs": `export default {
      entry: ["app.js"], format: ["cjs"], platform: "node", noExternal: [/.*/], outDir: "out", silent: true };`,
    "tree/a.ts": "const a;\n",
    "tree/b/c.ts": "x\nconst b;\n",
  });
  execFileSync("tsup", [], { cwd: root, stdio: "pipe" });
  const [bundle = ""] = readdirSync(join(root, "out")).filter((name) => name.startsWith("app."));
  const output = execFileSync(process.execPath, [join(root, "out", bundle), join(root, "tree")], {
    encoding: "utf8",
  });
  expect(output.replaceAll(`${root}/`, "")).toBe(
    [
      ...["tree/a.ts:1:const a;", "tree/b/c.ts:2:const b;", "[2 matching lines (2 files); 2 files searched]"],
      ...["tree/a.ts", "tree/b/c.ts", "[2 files]", ""],
    ].join("\n"),
  );
});
