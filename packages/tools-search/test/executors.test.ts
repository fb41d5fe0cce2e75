import { join } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import type { OpenExecutor } from "../src/host/pool/executor.js";
import { Pool } from "../src/host/pool/pool.js";
import { openLocalExecutor, openThread, sharedPool } from "../src/host/pool/shared.js";
import { formatTextResult } from "../src/host/report.js";
import { searchText } from "../src/host/textSearch.js";
import { searchTextTool } from "../src/index.js";
import { makeTree } from "./tree.js";

const here = new URL("..", import.meta.url).pathname;

const QUERIES = [
  { text: "const", regex: false, ignoreCase: false },
  { text: "CONST", regex: false, ignoreCase: true },
  { text: "é", regex: false, ignoreCase: true },
  { text: "(import|export) \\w+", regex: true, ignoreCase: false },
  { text: "^\\s*$", regex: true, ignoreCase: false },
  { text: "[\\p{L}_]+\\s=", regex: true, ignoreCase: true },
  { text: "^.{20}[ac].{15}", regex: true, ignoreCase: false },
  { text: "[a-z]{12,}", regex: true, ignoreCase: false },
];

/** Starts another file in place of the worker. */
function workerFrom(file: string): (options: WorkerOptions) => Promise<Worker> {
  return async (options) => new Worker(file, options);
}

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
      countOnMs: 60_000,
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

  test("runs in the host's own thread a search whose worker does not start", async () => {
    const local = (events: Parameters<typeof openLocalExecutor>[1]) => openLocalExecutor(true, events);
    const broken = join(makeTree({ "broken.mjs": "throw new Error('no');\n" }), "broken.mjs");
    const pool = new Pool(2, (events) => openThread(true, events, workerFrom(broken)), local);
    const query = { text: "const", regex: false, ignoreCase: false };
    expect(await answer(pool, query, 0)).toBe(await answer(sharedPool({ workers: 2 }), query, 0));
  });

  test("fails a search with the reason if its worker exits by itself, and starts a new worker for the next one", async () => {
    const fragile = join(
      makeTree({
        "fragile.mjs": `import { parentPort } from "node:worker_threads";
          parentPort.on("message", () => process.exit(3));
          parentPort.postMessage({ id: 0, done: true });`,
      }),
      "fragile.mjs",
    );
    const workers = [workerFrom(fragile), undefined];
    const pool = new Pool(
      1,
      (events) => openThread(true, events, workers.shift()),
      (events) => openLocalExecutor(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    await expect(answer(pool, query, 0)).rejects.toThrow(/broke off: .*exit code 3/);
    expect(await answer(pool, query, 0)).toBe(await answer(sharedPool({ workers: 2 }), query, 0));
    expect(workers).toEqual([]);
    pool.close();
  });

  test("searches run without workers that do not start, and starting them is tried again a few times", async () => {
    let starts = 0;
    let broken: string | undefined = join(
      makeTree({ "broken.mjs": "throw new Error('not now');" }),
      "broken.mjs",
    );
    const pool = new Pool(
      1,
      (events) => {
        starts++;
        if (starts === 2) throw new Error("no thread to be had");
        return openThread(true, events, broken === undefined ? undefined : workerFrom(broken));
      },
      (events) => openLocalExecutor(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    const expected = await answer(sharedPool({ workers: 2 }), query, 0);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(starts).toBe(2);
    broken = undefined;
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(await answer(pool, query, 0)).toBe(expected);
    expect(starts).toBe(3);
    pool.close();
  });

  test("reports an error only for that search if a worker dies in the middle", async () => {
    const executors: { close(): void }[] = [];
    const pool = new Pool(
      1,
      (events) => {
        const executor = openThread(true, {
          message: (message) => events.message(message),
          died: (error) => events.died(error),
        });
        executors.push({ close: () => events.died(new Error("killed by the test")) });
        return executor;
      },
      (events) => openLocalExecutor(true, events),
    );
    const query = { text: "const", regex: false, ignoreCase: false };
    const expected = await answer(pool, query, 0);
    const interrupted = answer(pool, query, 0);
    executors[0]?.close();
    await expect(interrupted).rejects.toThrow(/killed by the test/);
    expect(await answer(pool, query, 0)).toBe(expected);
    pool.close();
  });
});

describe("a thread without progress", () => {
  const WAITING_MS = 6_000;

  /** Searches with a thread that never reports anything, in a process that uses `share` of a CPU. */
  async function search(share: number): Promise<"running" | "stopped"> {
    vi.useFakeTimers();
    try {
      vi.spyOn(process, "cpuUsage").mockImplementation(() => ({
        user: Date.now() * 1000 * share,
        system: 0,
      }));
      const silent = { sharedState: new Int32Array(8), start: () => {}, hold: () => {}, close: () => {} };
      const open: OpenExecutor = (events) => {
        queueMicrotask(() => events.message({ id: 0, done: true }));
        return silent;
      };
      const pool = new Pool(1, open, open);
      let state: "running" | "stopped" = "running";
      void answer(pool, { text: "const", regex: false, ignoreCase: false }, 0).then(() => {
        state = "stopped";
      });
      await vi.advanceTimersByTimeAsync(WAITING_MS);
      return state;
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
  }

  test("stops the search if it uses the CPU", async () => {
    expect(await search(1)).toBe("stopped");
  });

  test("gets more time on a machine that leaves it little of the CPU", async () => {
    expect(await search(0.1)).toBe("running");
  });
});

describe("without threads", () => {
  test.each([
    ["a look-ahead", "^(?=(a+)+$)x"],
    ["a look-behind", "(?<!a)b"],
    ["a back-reference", "(a+)\\1+$"],
  ])("refuses %s with the reason and what to do", async (_, text) => {
    const query = { text, regex: true, ignoreCase: false };
    await expect(answer(sharedPool({ workers: 0 }), query, 0)).rejects.toThrow(
      /look-around or a back-reference.*only in a worker thread.*Search for the text around it/,
    );
  });

  test.each([
    ["nested repetition", "^(a+)+$"],
    ["nested repetition of letters beyond ASCII", "^(\\p{L}+)+$"],
    ["an expression too large for a table", "^([ab]|a)*[ab][^!]{30}(a|a)*$"],
  ])("stops %s on a line built to make it backtrack", async (_, query) => {
    const root = makeTree({ "a.txt": `${"a".repeat(5000)}!\n${"é".repeat(5000)}!\n` });
    const tool = searchTextTool({ workers: 0 });
    expect(await tool.execute({ query, paths: [root], regex: true })).toContain("No matches");
  });

  test("refuses too many repetitions", async () => {
    const query = { text: "(\\w{200}-){200}", regex: true, ignoreCase: false };
    await expect(answer(sharedPool({ workers: 0 }), query, 0)).rejects.toThrow("smaller numbers");
  });
});
